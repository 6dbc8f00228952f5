import { describe, expect, it } from "vitest"
import {
  WHISPER_LANGUAGES,
  whisperCodeToLanguageTag,
} from "../../../src/contract/whisper-languages.ts"
import { parseLanguageTag } from "../../../src/kinds/transcribe/languages.ts"

describe("a language tag", () => {
  it.each([
    ["en", "en", "en"],
    ["EN-us", "en-US", "en"],
    ["pt-br", "pt-BR", "pt"],
    ["sr-Latn-RS", "sr-Latn-RS", "sr"],
    ["de-DE-1996", "de-DE-1996", "de"],
    ["en-x-mine", "en-x-mine", "en"],
    // Three-letter and deprecated tags.
    ["eng", "en", "en"],
    ["ger", "de", "de"],
    ["iw", "he", "he"],
    ["ji", "yi", "yi"],
    ["mo", "ro", "ro"],
    ["sh", "sr-Latn", "sr"],
    // Languages with another code in whisper.
    ["jv", "jv", "jw"],
    ["jw", "jv", "jw"],
    ["tl", "fil", "tl"],
    ["fil-PH", "fil-PH", "tl"],
    ["no", "no", "no"],
    ["nb-NO", "nb-NO", "no"],
    ["nn", "nn", "nn"],
    ["zsm", "ms", "ms"],
    // Variants of Chinese.
    ["zh-TW", "zh-TW", "zh"],
    ["zh-Hant-HK", "zh-Hant-HK", "zh"],
    ["cmn-Hans", "zh-Hans", "zh"],
    ["zh-cmn-Hans-CN", "zh-Hans-CN", "zh"],
    ["wuu", "wuu", "zh"],
    ["zh-wuu", "wuu", "zh"],
    ["zh-min-nan", "nan", "zh"],
    ["yue", "yue", "yue"],
    ["zh-yue-HK", "yue-HK", "yue"],
    // An extended subtag that whisper does not know is a dialect of its language.
    ["ar-arz", "arz", "ar"],
  ])("%s is %s, and whisper's %s", (text, tag, code) => {
    expect(parseLanguageTag(text)).toEqual({ tag, code })
  })

  it.each([
    ["en_US", "en-US"],
    ["english", "en"],
    ["German", "de"],
    ["Javanese", "jv"],
  ])("%s is refused with the suggestion %s", (text, tag) => {
    expect(parseLanguageTag(text)).toEqual({
      error: `expected a language such as en or pt-BR (BCP-47), or auto; did you mean \`${tag}\`?`,
    })
  })

  it.each(["", "e", "en-", "-en", "en US", "x-mine", "english language", "en-US-US-US", "ü"])(
    "%j is refused as malformed, with the expected form",
    (text) => {
      expect(parseLanguageTag(text)).toEqual({
        error: "expected a language such as en or pt-BR (BCP-47), or auto",
      })
    },
  )

  it.each(["tlh", "und", "mul", "gsw", "klingon", "ckb", "xx-US"])(
    "%s is refused as unknown to whisper",
    (text) => {
      expect(parseLanguageTag(text)).toMatchObject({
        error: expect.stringMatching(/^expected a language such as en .* Whisper does not know/),
      })
    },
  )
})

describe("whisper's codes", () => {
  it.each(WHISPER_LANGUAGES)("%s is a tag with the same code", (code) => {
    expect(parseLanguageTag(whisperCodeToLanguageTag(code))).toMatchObject({ code })
  })

  it("are shown as canonical BCP-47 tags", () => {
    expect(["jw", "tl", "no", "haw", "yue"].map(whisperCodeToLanguageTag)).toEqual([
      "jv",
      "fil",
      "no",
      "haw",
      "yue",
    ])
  })
})
