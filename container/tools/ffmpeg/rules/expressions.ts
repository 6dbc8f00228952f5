import { toExplainRules } from "./explain-rule.ts"
import type { ExplainRule } from "./explain-rule.ts"

/** Patterns of frequently mistaken names in filter expressions, and the correct names. */
const NAME_CORRECTIONS: readonly (readonly [word: RegExp, written: string])[] = [
  [/^(?:in_?)?(?:width|wdith|w_in)$/i, "iw"],
  [/^(?:in_?)?(?:height|hight|heigth|h_in)$/i, "ih"],
  [
    /^(?:center|centre|middle|mid|half)$/i,
    "(W-w)/2 in overlay, (w-text_w)/2 in drawtext, (iw-ow)/2 in crop, (ow-iw)/2 in pad",
  ],
  [/^right$/i, "W-w"],
  [/^bottom$/i, "H-h"],
  [/^(?:left|top)$/i, "0"],
  [/^(?:time|seconds|sec)$/i, "t"],
  [/^pts$/, "PTS"],
  [/^frame$/i, "n"],
  [/^pict_typ$/i, "pict_type"],
  [/^textw$/i, "text_w"],
  [/^texth$/i, "text_h"],
  [/^filled$/i, "fill"],
  [/^auto$/i, "-2, by which the side follows from the other"],
]

/**
 * Returns advice for an unknown name in an expression, such as the correct name for a common
 * mistake.
 */
function adviseName(word: string): string {
  const written = NAME_CORRECTIONS.find(([pattern]) => pattern.test(word))?.[1]
  return written === undefined
    ? "write a number, or a name that the filter has, as iw, ih, t, n or n_forced"
    : `write ${written}`
}

/** Returns advice for a number with characters behind the digits, such as `10px`. */
function adviseNumberWithRest(rest: string, value: string): string {
  const [, number = "", unit = ""] =
    /^([+-]?[\d.]+) ?(px|p|%|deg|degrees|°|db|fps|x)$/i.exec(value) ?? []
  switch (unit.toLowerCase()) {
    case "px":
    case "fps":
    case "x":
      return `write ${number} alone, without a unit`
    case "%":
      return `there is no percent sign in numbers; write a factor, as iw*${Number(number) / 100} in scale or ${Number(number) / 100} alone`
    case "deg":
    case "degrees":
    case "°":
      return `angles are in radians; write ${number}*PI/180, or ${number} alone in hue`
    case "db":
      return `write ${number}dB, with a large B`
    case "p":
      return `write scale=-2:${number} for a height of ${number}`
    default:
      break
  }
  if (/^\d+x\d+$/.test(value)) return `write ${value.replace("x", "/")} for a ratio`
  if (/^ ?[a-z_]+(?:=|$)/.test(rest) && value.includes(" ")) return "write a comma between filters"
  if (rest.startsWith(")")) return "leave out the ) that has no ( before it"
  return /^[A-Za-z(]/.test(rest)
    ? "write * between what is multiplied, as 2*iw"
    : "write a number or an expression, as iw/2"
}

/**
 * Rules that explain failures because of an expression, in a filter or an option, that ffmpeg
 * cannot evaluate.
 */
export const EXPRESSION_EXPLAIN_RULES: readonly ExplainRule[] = toExplainRules("filter_error", [
  [
    /Invalid chars '(.{0,400})' at the end of expression '(.{0,400})'$/,
    (rest, value) =>
      `"${value}" is no number and no expression, since "${rest}" follows the valid part: ${adviseNumberWithRest(rest, value)}.`,
  ],
  [
    /\[Eval\] Undefined constant or missing '\(' in '((\w*).{0,400})'$/,
    (rest, word) =>
      rest === ""
        ? "A number or a name is missing at the end of an expression: write one, as iw/2."
        : `An expression knows no "${word || rest}": ${adviseName(word)}.`,
  ],
  [
    /\[Eval\] Unknown function in '(\w*).{0,400}'$/,
    (name) =>
      `An expression knows no function "${name}": write one that there is, as between(t,1,2), gte(t,1), eq(n,0), mod(n,2), if(a,b,c), min(a,b) or max(a,b).`,
  ],
  [
    /\[Eval\] Missing '\)'(?: or too many args)? in '(.{0,400})'$/,
    (value) =>
      `In the expression "${value}" a ( is never closed, a function has too many values, or a name is not known: write ) for each (, and names as iw, t or n_forced.`,
  ],
  [
    /Error when evaluating the expression '(.{0,400})' for enable/,
    (value) =>
      `The expression "${value}" cannot be read: check the values of its functions, as between(t,1,2), which takes 3 values.`,
  ],
  [
    /Error when evaluating the expression '(.{0,400})'$/,
    (value) =>
      `The expression "${value}" has no value here: write numbers, iw and ih; the width and height of crop cannot hold x and y, which come after them.`,
  ],
])
