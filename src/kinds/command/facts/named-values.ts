import { nearestName } from "../../../hints/nearest-name.ts"
import type { Known, KnownOption } from "./known.ts"

/** Words that every number may be called. */
const NUMBER_NAMES = /^(?:default|max|min|none|all|PI|E|PHI|QP2LAMBDA|inf|infinity|nan)$/i
const BOOLEAN_NAMES =
  /^(?:true|y|yes|enabled?|on|false|n|no|disabled?|off|auto|default|min|max|none|all)$/i
/** Types of options whose values are numbers, some of which have names: whole, real, flags, 0 or 1. */
const NUMBERS = /^[ifgb]$/
const WORD = /^[a-z_]\w*$/i
const LISTED_MAX = 12

/** The lists of names that values of these types come from, and a name as an example. */
const LISTS = {
  c: ["colors", "a color, as red or 0xFF8800"],
  p: ["pixelFormats", "a pixel format, as yuv420p"],
  a: ["sampleFormats", "a sample format, as fltp"],
  l: ["layouts", "a layout of channels, as stereo or 5.1"],
} as const
/** Names that are in no list: hexadecimal colors, and pixel formats without their order of bytes. */
const UNLISTED_NAMES =
  /^(?:[\da-f]{6}|[\da-f]{8}|random|bikeshed|none|list|same|[0a]?(?:rgb|bgr)a?\d*_?\d?)$/i

/**
 * What was expected in the place of a word that no option of these takes; null where one of them may
 * take it, as a number, an expression, or a name. The options are those that may be meant.
 */
export function expectedName(
  options: readonly KnownOption[],
  value: string,
  known: Known,
): string | null {
  const [first] = options
  if (!first) return null
  const list = isListed(first.type) ? LISTS[first.type] : null
  if (list) return options.length > 1 ? null : expectedOfList(list, value, known)
  if (!options.every(({ type }) => NUMBERS.test(type))) return null
  const parts = options.some(({ type }) => type === "g") ? value.split(/[+|-]/) : [value]
  const names = [...new Set(options.flatMap(({ constants }) => constants))]
  const wrong = parts.find((part) => WORD.test(part) && !isTaken(part, options))
  if (wrong === undefined) return null
  if (options.every(({ type }) => type === "b")) return "expected 1 or 0"
  return names.length === 0 ? "expected a number" : expectedOf(wrong, names)
}

/** What was expected in the place of a name that is none of some. */
export function expectedOf(name: string, names: readonly string[]): string {
  const meant = nearestName(name, names)
  return meant === null ? `expected ${listOf(names)}` : `did you mean \`${meant}\`?`
}

/** The type of an option's values, as one of a list of names has it. */
function isListed(type: string): type is keyof typeof LISTS {
  return Object.hasOwn(LISTS, type)
}

function expectedOfList(
  [list, what]: (typeof LISTS)[keyof typeof LISTS],
  value: string,
  known: Known,
): string | null {
  const [name = ""] = value.replace(/^\+/, "").split("@", 1)
  const names = known.names(list)
  const isName = [name, name.toLowerCase(), `${name}le`, `${name}be`].some((each) =>
    names.has(each),
  )
  if (!WORD.test(name) || isName || UNLISTED_NAMES.test(name)) return null
  const meant = nearestName(name, names)
  return `expected ${what}${meant === null ? "" : `; did you mean \`${meant}\`?`}`
}

function isTaken(word: string, options: readonly KnownOption[]): boolean {
  return options.some(({ type, constants }) => {
    return constants.includes(word) || (type === "b" ? BOOLEAN_NAMES : NUMBER_NAMES).test(word)
  })
}

/** The first of some names, as a sentence lists them. */
function listOf(names: readonly string[]): string {
  const shown = names.slice(0, LISTED_MAX).map((name) => `\`${name}\``)
  if (names.length > LISTED_MAX) return `${shown.join(", ")} or others`
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`
}
