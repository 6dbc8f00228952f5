import { z } from "zod"

/** Whisper's codes of the languages that its multilingual models know, English first. */
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

/** One of whisper's codes. */
export const languageCode = z.string().refine((code) => codes.has(code), "no language of whisper")

/** The BCP-47 tag of one of whisper's codes, in canonical form: `jv` of `jw`. */
export function languageTag(code: string): string {
  return Intl.getCanonicalLocales(code)[0] ?? code
}
