import { nearestName } from "../../../suggest.ts"

/** Functions of ffmpeg's expressions. */
const FUNCTIONS =
  "sinh cosh tanh sin cos tan atan asin acos exp log abs squish gauss mod max min eq gte gt lte lt ld isnan isinf st while floor ceil trunc round sqrt not pow print random randomi hypot gcd if ifnot bitand bitor between clip atan2 lerp sgn taylor root time clip"
/** Constants of each. */
const CONSTANTS = "PI E PHI QP2LAMBDA NAN nan INF inf INFINITY infinity"

/** What filters have beside these, by their options, over all versions of ffmpeg from 5 to 8. */
const VARIABLES: readonly { filters: string; options: string; names: string }[] = [
  {
    filters: "scale",
    options: "w h",
    names:
      "in_w iw in_h ih out_w ow out_h oh a sar dar hsub vsub ohsub ovsub n t pos main_w main_h main_a main_sar main_dar mdar main_hsub main_vsub main_n main_t main_pos ref_w rw ref_h rh ref_a ref_sar ref_dar rdar ref_hsub ref_vsub ref_n ref_t ref_pos",
  },
  {
    filters: "crop",
    options: "out_w w out_h h x y",
    names: "in_w iw in_h ih out_w ow out_h oh a sar dar hsub vsub x y n pos t",
  },
  {
    filters: "pad",
    options: "w width h height x y",
    names: "in_w iw in_h ih out_w ow out_h oh x y a sar dar hsub vsub",
  },
  {
    filters: "overlay",
    options: "x y",
    names: "main_w W main_h H overlay_w w overlay_h h hsub vsub x y n pos t",
  },
  {
    filters: "rotate",
    options: "angle a",
    names: "in_w iw in_h ih out_w ow out_h oh hsub vsub n t rotw roth",
  },
  {
    filters: "setpts asetpts",
    options: "expr",
    names:
      "FRAME_RATE FR INTERLACED N NB_CONSUMED_SAMPLES NB_SAMPLES POS PREV_INPTS PREV_INT PREV_OUTPTS PREV_OUTT PTS SAMPLE_RATE SR S STARTPTS STARTT T TB RTCTIME RTCSTART STARTDURATION T_CHANGE",
  },
  {
    filters: "volume",
    options: "volume",
    names:
      "n nb_channels nb_consumed_samples nb_samples pos pts sample_rate startpts startt t tb volume",
  },
  {
    filters: "zoompan",
    options: "zoom z x y",
    names:
      "in_w iw in_h ih out_w ow out_h oh in on duration pduration in_time it out_time time ot frame zoom pzoom x px y py a sar dar hsub vsub z",
  },
]

/** What was expected in the place of an expression; null where it may be one. */
export function wrongExpression(
  filter: string,
  options: readonly string[],
  value: string,
): string | null {
  const found = VARIABLES.find((each) => {
    return (
      each.filters.split(" ").includes(filter) &&
      options.some((name) => each.options.split(" ").includes(name))
    )
  })
  if (!found || value === "" || /[\\'"]/.test(value)) return null
  const opened = value.split("(").length - value.split(")").length
  if (opened > 0) return "a ( is never closed; write ) for each"
  if (opened < 0) return "a ) has no ( before it"
  if (filter === "scale" && /^\d+x\d+$/.test(value)) return null
  return wrongNames(value, found.names.split(" "), filter)
}

function wrongNames(value: string, variables: readonly string[], filter: string): string | null {
  const known = [...variables, ...CONSTANTS.split(" ")]
  for (const [, number, name = "", paren] of value.matchAll(TERM)) {
    if (number !== undefined) continue
    const names = paren ? FUNCTIONS.split(" ") : known
    if (names.includes(name)) continue
    // A whole value may be a size by its name.
    if (filter === "scale" && name === value) return describe(name, names, SIZE)
    return describe(name, names, "")
  }
  return /[%#$&@!?{}]/.test(value) ? "expected a number or an expression, as iw/2" : null
}

const TERM = /(\d[\w.]*|\.\d[\w.]*)|([A-Za-z_]\w*)\s*(\()?/g
const SIZE = " or the name of a size"

function describe(name: string, names: readonly string[], more: string): string | null {
  if (more !== "" && /^(?:\d*\w{2,8})$/.test(name) && SIZE_NAMES.test(name)) return null
  const meant = nearestName(name, names)
  const instead =
    meant === null
      ? `it may hold ${names.slice(0, 8).join(", ")}${more}`
      : `did you mean \`${meant}\`?`
  return `an expression knows no "${name}"; ${instead}`
}

const SIZE_NAMES =
  /^(?:ntsc|pal|qntsc|qpal|sntsc|spal|film|s?q?cif|q?q?vga|[swxuq]+ga|hsxga|w[a-z]+ga|cga|ega|hd\d+|nhd|qhd|uhd\d+|quadhd)$/
