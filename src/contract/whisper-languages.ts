import { z } from "zod"

/** Language codes of whisper's multilingual models, English first. */
export const WHISPER_LANGUAGES: readonly string[] = [
  "en",
  ...(
    "af am ar as az ba be bg bn bo br bs ca cs cy da de el es et eu fa fi fo fr gl gu ha haw " +
    "he hi hr ht hu hy id is it ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt " +
    "my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl " +
    "tr tt uk ur uz vi yi yo zh yue"
  ).split(" "),
]

const codes = new Set(WHISPER_LANGUAGES)

/** Schema of a language code of whisper's multilingual models. */
export const whisperLanguageCodeSchema = z
  .string()
  .refine((code) => codes.has(code), "expected a language of Whisper")

/** Returns the canonical BCP-47 tag of a language code of Whisper: `jv` for `jw`. */
export function whisperCodeToLanguageTag(code: string): string {
  return Intl.getCanonicalLocales(code)[0] ?? code
}
