import { findNearestName } from "../../../hints/nearest-name.ts"
import type { FfmpegCapabilities, FfmpegOption } from "./capabilities.ts"

/** Names that ffmpeg accepts as the value of every numeric option. */
const NUMBER_NAMES = /^(?:default|max|min|none|all|PI|E|PHI|QP2LAMBDA|inf|infinity|nan)$/i
const BOOLEAN_NAMES =
  /^(?:true|y|yes|enabled?|on|false|n|no|disabled?|off|auto|default|min|max|none|all)$/i
/** Types of numeric options, which also accept names as values: int, float, flags, bool. */
const NUMBERS = /^[ifgb]$/
const WORD = /^[a-z_]\w*$/i
const LISTED_MAX = 12

/**
 * Lists of value names, by the letter that scripts/ffmpeg/read-help.ts writes for an option's type.
 * Each entry has the name of a list in `FfmpegCapabilities`, and a description of the expected
 * value for messages.
 */
const LISTS = {
  c: ["colors", "a color, such as red or 0xFF8800"],
  p: ["pixelFormats", "a pixel format, such as yuv420p"],
  a: ["sampleFormats", "a sample format, such as fltp"],
  l: ["layouts", "a channel layout, such as stereo or 5.1"],
} as const
/**
 * Values that ffmpeg accepts but does not list: hexadecimal colors, and pixel formats without their
 * byte order.
 */
const UNLISTED_NAMES =
  /^(?:[\da-f]{6}|[\da-f]{8}|random|bikeshed|none|list|same|[0a]?(?:rgb|bgr)a?\d*_?\d?)$/i

/**
 * Describes the value that an option expects, if the option does not accept `value`. `options` are
 * the options that the name in the command may mean. Returns null if one of them may accept the
 * value as a number, an expression or a name.
 */
export function describeWrongOptionValue(
  options: readonly FfmpegOption[],
  value: string,
  capabilities: FfmpegCapabilities,
): string | null {
  const [first] = options
  if (!first) return null
  const list = hasNameList(first.type) ? LISTS[first.type] : null
  if (list) return options.length > 1 ? null : expectedOfList(list, value, capabilities)
  if (!options.every(({ type }) => NUMBERS.test(type))) return null
  const parts = options.some(({ type }) => type === "g") ? value.split(/[+|-]/) : [value]
  const names = [...new Set(options.flatMap(({ constants }) => constants))]
  const unknownName = parts.find((part) => WORD.test(part) && !isAccepted(part, options))
  if (unknownName === undefined) return null
  if (options.every(({ type }) => type === "b")) return "expected 1 or 0"
  return names.length === 0 ? "expected a number" : describeExpectedNames(unknownName, names)
}

/**
 * Describes the expected names: the nearest expected name as a correction, or a list of names if no
 * name is near.
 */
export function describeExpectedNames(name: string, names: readonly string[]): string {
  const nearest = findNearestName(name, names)
  return nearest === null ? `expected ${listOf(names)}` : `did you mean \`${nearest}\`?`
}

/** Reports whether options of this type have values from a list of names. */
function hasNameList(type: string): type is keyof typeof LISTS {
  return Object.hasOwn(LISTS, type)
}

function expectedOfList(
  [list, what]: (typeof LISTS)[keyof typeof LISTS],
  value: string,
  capabilities: FfmpegCapabilities,
): string | null {
  const [name = ""] = value.replace(/^\+/, "").split("@", 1)
  const names = capabilities.names(list)
  const isName = [name, name.toLowerCase(), `${name}le`, `${name}be`].some((each) =>
    names.has(each),
  )
  if (!WORD.test(name) || isName || UNLISTED_NAMES.test(name)) return null
  const nearest = findNearestName(name, names)
  return `expected ${what}${nearest === null ? "" : `; did you mean \`${nearest}\`?`}`
}

function isAccepted(word: string, options: readonly FfmpegOption[]): boolean {
  return options.some(({ type, constants }) => {
    return constants.includes(word) || (type === "b" ? BOOLEAN_NAMES : NUMBER_NAMES).test(word)
  })
}

/** Joins the first names of a list to a text for a message. */
function listOf(names: readonly string[]): string {
  const quotedNames = names.slice(0, LISTED_MAX).map((name) => `\`${name}\``)
  if (names.length > LISTED_MAX) return `${quotedNames.join(", ")} or others`
  return quotedNames.length < 2
    ? quotedNames.join("")
    : `${quotedNames.slice(0, -1).join(", ")} or ${quotedNames.at(-1)}`
}
