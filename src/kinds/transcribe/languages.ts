import { whisperCodeToLanguageTag, WHISPER_LANGUAGES } from "../../contract/whisper-languages.ts"

export const AUTO_LANGUAGE = "auto"
export const LANGUAGE_LENGTH_MAX = 100

/** Spoken language: its canonical BCP-47 tag, and Whisper's code for the language. */
export type SpokenLanguage = { tag: string; code: string }

const EXPECTED = "expected a language such as en or pt-BR (BCP-47), or auto"

/** Whisper's codes for languages whose canonical BCP-47 subtag differs from the code. */
const CODES: ReadonlyMap<string, string> = new Map([
  ["jv", "jw"],
  ["fil", "tl"],
  ["nb", "no"],
  ["zlm", "ms"],
  // Chinese languages share a written form, so that Whisper's code for all of them is `zh`.
  ...["cdo", "cjy", "cpx", "czh", "czo", "gan", "hak", "hsn", "lzh", "mnp", "nan", "wuu"].map(
    (dialect) => [dialect, "zh"] as const,
  ),
])

/**
 * Pattern of a tag with an extended language subtag, such as `zh-yue`. BCP-47 also allows `yue`
 * alone.
 */
const EXTENDED = /^(?<language>[a-z]{2,3})-(?:[a-z]{3}-)?(?<extended>[a-z]{3}(?:-.*)?)$/i

/**
 * Parses a language tag other than `auto`. Returns an error if Whisper does not know the language.
 */
export function parseLanguageTag(text: string): SpokenLanguage | { error: string } {
  const { language = "", extended = text } = EXTENDED.exec(text)?.groups ?? {}
  const tag = canonicalTag(extended)
  if (tag === null) {
    const hyphenated = canonicalTag(text.replaceAll("_", "-"))
    const isCorrection =
      text.includes("_") && hyphenated !== null && whisperCode(hyphenated) !== null
    return { error: isCorrection ? `${EXPECTED}; did you mean \`${hyphenated}\`?` : EXPECTED }
  }
  const code = whisperCode(tag) ?? whisperCode(canonicalTag(language) ?? "")
  if (code !== null) return { tag, code }
  const tagByName = findTagByName(text)
  if (tagByName !== null) return { error: `${EXPECTED}; did you mean \`${tagByName}\`?` }
  return { error: `${EXPECTED}; Whisper does not know "${tag}"` }
}

/** Returns the language tag for the English name of a language; null for any other text. */
function findTagByName(text: string): string | null {
  const names = new Intl.DisplayNames("en", { type: "language" })
  const code = WHISPER_LANGUAGES.find((each) => {
    return names.of(each)?.toLowerCase() === text.toLowerCase()
  })
  return code === undefined ? null : whisperCodeToLanguageTag(code)
}

/** Reports whether a text is `auto`, in upper or lower case. Whisper then detects the language. */
export function isAutoLanguage(text: string): boolean {
  return text.toLowerCase() === AUTO_LANGUAGE
}

/**
 * Reports whether a Whisper model distinguishes Cantonese from other Chinese languages. Only the
 * latest large models do.
 */
export function doesModelSupportCantonese(model: string): boolean {
  return /large-v3|turbo/.test(model)
}

function canonicalTag(text: string): string | null {
  try {
    return Intl.getCanonicalLocales(text)[0] ?? null
  } catch {
    return null
  }
}

function whisperCode(tag: string): string | null {
  const [language = ""] = tag.split("-")
  const code = CODES.get(language) ?? language
  return WHISPER_LANGUAGES.includes(code) ? code : null
}
