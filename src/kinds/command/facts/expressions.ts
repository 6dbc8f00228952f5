import { nearestName } from "../../../suggest.ts"
import { CONSTANTS, FUNCTION_NAMES, readExpression } from "./evaluate.ts"
import type { ExpressionFault, ExpressionNames } from "./evaluate.ts"

/** Variables and functions that filters have beside those of all expressions, by their options. */
type Place = { filters: string; options: string; names: string; functions?: string }

const SIDES = "in_w iw in_h ih out_w ow out_h oh a sar dar hsub vsub"

/** Those of all versions of ffmpeg from 5 to 8. */
const PLACES: readonly Place[] = [
  {
    filters: "scale",
    options: "w width h height",
    names: `${SIDES} ohsub ovsub n t pos main_w main_h main_a main_sar main_dar mdar main_hsub main_vsub main_n main_t main_pos ref_w rw ref_h rh ref_a ref_sar ref_dar rdar ref_hsub ref_vsub ref_n ref_t ref_pos`,
  },
  { filters: "crop", options: "out_w w out_h h x y", names: `${SIDES} x y n pos t` },
  { filters: "pad", options: "w width h height x y", names: `${SIDES} x y` },
  {
    filters: "overlay",
    options: "x y",
    names: "main_w W main_h H overlay_w w overlay_h h hsub vsub x y n pos t",
  },
  {
    filters: "rotate",
    options: "angle a out_w ow out_h oh",
    names: "in_w iw in_h ih out_w ow out_h oh hsub vsub n t",
    functions: "rotw roth",
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
    options: "zoom z x y d",
    names:
      "in_w iw in_h ih out_w ow out_h oh in on duration pduration in_time it out_time time ot frame zoom pzoom x px y py a sar dar hsub vsub z",
  },
  {
    filters: "drawtext",
    options: "x y fontsize alpha",
    names:
      "dar hsub vsub line_h lh main_h h H main_w w W max_glyph_a ascent max_glyph_d descent max_glyph_h max_glyph_w font_a font_d top_a bottom_d n sar t text_h th text_w tw x y pict_type pkt_pos pkt_duration duration pkt_size",
    functions: "rand",
  },
  {
    filters: "drawbox drawgrid",
    options: "x y w width h height t thickness",
    names: "dar hsub vsub in_h ih in_w iw sar x y h w t fill",
  },
  {
    filters: "select aselect",
    options: "expr e",
    names:
      "TB pts start_pts prev_pts prev_selected_pts t start_t prev_t prev_selected_t pict_type PICT_TYPE_I PICT_TYPE_P PICT_TYPE_B PICT_TYPE_S PICT_TYPE_SI PICT_TYPE_SP PICT_TYPE_BI I P B S SI SP BI interlace_type PROGRESSIVE TOPFIRST BOTTOMFIRST consumed_samples_n samples_n sample_rate n selected_n prev_selected_n key pos scene concatdec_select ih iw",
  },
  { filters: "fps", options: "fps", names: "source_fps ntsc pal film ntsc_film" },
  {
    filters: "eq",
    options: "contrast brightness saturation gamma gamma_r gamma_g gamma_b gamma_weight",
    names: "n pos r t",
  },
  { filters: "hue", options: "h H s b", names: "n nb pos pts r t tb" },
  {
    filters: "boxblur",
    options: "luma_radius lr chroma_radius cr alpha_radius ar",
    names: "w h cw ch hsub vsub",
  },
  { filters: "vignette", options: "angle a x0 y0", names: "w h n pts r t tb" },
  { filters: "setsar setdar", options: "sar dar ratio r", names: "w h a dar sar hsub vsub" },
  { filters: "delogo", options: "x y w h", names: "x y w h n t" },
  { filters: "aevalsrc", options: "exprs", names: "n s t", functions: "val" },
  {
    filters: "lut lutrgb lutyuv",
    options: "c0 c1 c2 c3 y u v r g b a",
    names: "w h val maxval minval negval clipval",
    functions: "clip gammaval gammaval709",
  },
  {
    filters: "geq",
    options: "lum_expr lum cb_expr cb cr_expr cr alpha_expr a red_expr r green_expr g blue_expr b",
    names: "X Y W H N SW SH T",
    functions: "lum cb cr alpha p r g b lumsum cbsum crsum alphasum psum rsum gsum bsum",
  },
]

const TIMELINE: ExpressionNames = { variables: "t n pos w h".split(" ") }
const KEY_FRAMES: ExpressionNames = {
  variables: "n n_forced prev_forced_n prev_forced_t t".split(" "),
}

/** What was expected of an expression behind `expr:` of -force_key_frames; null where it may be one. */
export function wrongKeyFrames(value: string): string | null {
  return describeExpression(value, KEY_FRAMES, "")
}

/** What was expected in the place of an expression; null where it may be one. */
export function wrongExpression(
  filter: string,
  options: readonly string[],
  value: string,
): string | null {
  if (value === "" || /[\\'"]/.test(value)) return null
  const names = options.includes("enable") ? TIMELINE : namesOf(filter, options)
  if (!names) return null
  if (filter === "scale" && isSize(value)) return null
  if (/^set[sd]ar$/.test(filter) && /^-?\d+:-?\d+$/.test(value)) return null
  const parts = filter === "aevalsrc" ? value.split("|") : [value]
  const more = filter === "scale" ? " or the name of a size" : ""
  const wrong = parts.values().map((part) => describeExpression(part, names, more))
  return wrong.find(Boolean) ?? null
}

function namesOf(filter: string, options: readonly string[]): ExpressionNames | null {
  const place = PLACES.find((each) => {
    return (
      each.filters.split(" ").includes(filter) &&
      options.some((name) => each.options.split(" ").includes(name))
    )
  })
  if (!place) return null
  return { variables: place.names.split(" "), functions: place.functions?.split(" ") ?? [] }
}

function isSize(value: string): boolean {
  return /^\d+x\d+$/.test(value) || SIZE_NAMES.test(value)
}

const SIZE_NAMES =
  /^(?:ntsc|pal|qntsc|qpal|sntsc|spal|film|ntsc-film|s?q?cif|\d+cif|q?q?vga|[swxuq]+ga|hsxga|w[a-z]+ga|cga|ega|hd\d+|nhd|qhd|uhd\d+|quadhd|[24]k(?:dci|flat|scope)?)$/

function describeExpression(value: string, names: ExpressionNames, more: string): string | null {
  const read = readExpression(value, names)
  if (read === null || "kind" in read) return null
  return describeFault(read, names, { more, value })
}

function describeFault(
  fault: ExpressionFault,
  { variables, functions = [] }: ExpressionNames,
  { more, value }: { more: string; value: string },
): string {
  switch (fault.why) {
    case "name":
      return describeName(fault.name, [...variables, ...Object.keys(CONSTANTS)], more)
    case "function":
      return describeName(fault.name, [...FUNCTION_NAMES, ...functions], "")
    case "count":
      return `${fault.name}() takes ${fault.counts} value${fault.counts === "1" ? "" : "s"}, with commas between`
    case "unclosed":
      return "a ( is never closed; write ) for each"
    case "gap":
      return `a number or a name is missing${fault.at === "" ? "" : ` behind \`${fault.at.slice(-20)}\``}; write one, as iw/2`
    default:
      return describeRest(fault.at, value)
  }
}

function describeName(name: string, names: readonly string[], more: string): string {
  const meant = nearestName(name, names)
  const instead =
    meant === null
      ? `it may hold ${names.slice(0, 8).join(", ")}${more}`
      : `did you mean \`${meant}\`?`
  return `an expression knows no "${name}"; ${instead}`
}

function describeRest(rest: string, value: string): string {
  if (rest.startsWith(")")) return "a ) has no ( before it"
  const before = value.slice(0, Math.max(0, value.length - rest.length))
  const product = /^x?[A-Za-z_(]/.test(rest) ? "; write * between what is multiplied, as 2*iw" : ""
  return `expected a number or an expression, as iw/2, and \`${rest.slice(0, 20)}\` follows${before === "" ? "" : ` \`${before.slice(-20)}\``}${product}`
}
