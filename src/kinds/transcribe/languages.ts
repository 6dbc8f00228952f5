import { languageTag, WHISPER_LANGUAGES } from "../../contract/whisper-languages.ts"

export const AUTO = "auto"
export const LANGUAGE_LENGTH_MAX = 100

/** A language that may be spoken: its canonical BCP-47 tag, and whisper's code of it. */
export type SpokenLanguage = { tag: string; code: string }

const EXPECTED = "expected a language such as en or pt-BR (BCP-47), or auto"

/** Language subtags in canonical form that whisper knows by another code. */
const CODES: ReadonlyMap<string, string> = new Map([
  ["jv", "jw"],
  ["fil", "tl"],
  ["nb", "no"],
  ["zlm", "ms"],
  // What is written alike, and spoken in many ways.
  ...["cdo", "cjy", "cpx", "czh", "czo", "gan", "hak", "hsn", "lzh", "mnp", "nan", "wuu"].map(
    (dialect) => [dialect, "zh"] as const,
  ),
])

/** A language and one of its extended subtags, which BCP-47 takes for a language too: `zh-yue`. */
const EXTENDED = /^(?<language>[a-z]{2,3})-(?:[a-z]{3}-)?(?<extended>[a-z]{3}(?:-.*)?)$/i

/** Reads a tag that is not `auto`; what is no tag, or no language of whisper, says what is expected. */
export function readLanguage(text: string): SpokenLanguage | { error: string } {
  const { language = "", extended = text } = EXTENDED.exec(text)?.groups ?? {}
  const tag = canonicalTag(extended)
  if (tag === null) {
    const meant = canonicalTag(text.replaceAll("_", "-"))
    const isMeant = text.includes("_") && meant !== null && whisperCode(meant) !== null
    return { error: isMeant ? `${EXPECTED}; did you mean \`${meant}\`?` : EXPECTED }
  }
  const code = whisperCode(tag) ?? whisperCode(canonicalTag(language) ?? "")
  if (code !== null) return { tag, code }
  const named = codeOfName(text)
  if (named !== null) return { error: `${EXPECTED}; did you mean \`${named}\`?` }
  return { error: `${EXPECTED}, and "${tag}" is none that whisper knows` }
}

/** The tag of a language that is called by its English name; null where none is. */
function codeOfName(text: string): string | null {
  const names = new Intl.DisplayNames("en", { type: "language" })
  const code = WHISPER_LANGUAGES.find((each) => {
    return names.of(each)?.toLowerCase() === text.toLowerCase()
  })
  return code === undefined ? null : languageTag(code)
}

/** Whether a request leaves it to whisper which language is spoken. */
export function isAuto(text: string): boolean {
  return text.toLowerCase() === AUTO
}

/** Whether a model tells Cantonese from other Chinese: the latest large ones do. */
export function hearsCantonese(model: string): boolean {
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
