import { describe, expect, it } from "vitest"
import { WHISPER_LANGUAGES, languageTag } from "../../../src/contract/whisper-languages.ts"
import { readLanguage } from "../../../src/kinds/transcribe/languages.ts"

describe("a language tag", () => {
  it.each([
    ["en", "en", "en"],
    ["EN-us", "en-US", "en"],
    ["pt-br", "pt-BR", "pt"],
    ["sr-Latn-RS", "sr-Latn-RS", "sr"],
    ["de-DE-1996", "de-DE-1996", "de"],
    ["en-x-mine", "en-x-mine", "en"],
    // Three letters, and tags of old.
    ["eng", "en", "en"],
    ["ger", "de", "de"],
    ["iw", "he", "he"],
    ["ji", "yi", "yi"],
    ["mo", "ro", "ro"],
    ["sh", "sr-Latn", "sr"],
    // Languages that whisper has another code for.
    ["jv", "jv", "jw"],
    ["jw", "jv", "jw"],
    ["tl", "fil", "tl"],
    ["fil-PH", "fil-PH", "tl"],
    ["no", "no", "no"],
    ["nb-NO", "nb-NO", "no"],
    ["nn", "nn", "nn"],
    ["zsm", "ms", "ms"],
    // Chinese in its ways.
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
    expect(readLanguage(text)).toEqual({ tag, code })
  })

  it.each([
    ["en_US", "en-US"],
    ["english", "en"],
    ["German", "de"],
    ["Javanese", "jv"],
  ])("that is written as %s was meant as %s", (text, tag) => {
    expect(readLanguage(text)).toEqual({
      error: `expected a language such as en or pt-BR (BCP-47), or auto; did you mean \`${tag}\`?`,
    })
  })

  it.each(["", "e", "en-", "-en", "en US", "x-mine", "english language", "en-US-US-US", "ü"])(
    "that is malformed, as %j, says what is expected",
    (text) => {
      expect(readLanguage(text)).toEqual({
        error: "expected a language such as en or pt-BR (BCP-47), or auto",
      })
    },
  )

  it.each(["tlh", "und", "mul", "gsw", "klingon", "ckb", "xx-US"])(
    "that whisper does not know, as %s, says so",
    (text) => {
      expect(readLanguage(text)).toMatchObject({
        error: expect.stringMatching(/^expected a language such as en .* whisper knows$/),
      })
    },
  )
})

describe("whisper's codes", () => {
  it.each(WHISPER_LANGUAGES)("%s is a tag that is read as the same code", (code) => {
    expect(readLanguage(languageTag(code))).toMatchObject({ code })
  })

  it("are shown as BCP-47 has them", () => {
    expect(["jw", "tl", "no", "haw", "yue"].map(languageTag)).toEqual([
      "jv",
      "fil",
      "no",
      "haw",
      "yue",
    ])
  })
})
