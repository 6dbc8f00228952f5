import { describe, expect, test } from "vitest"
import { toSubtitleCues } from "../../../container/captions/shape-cues.ts"
import type { SubtitleCue, SubtitleCueOptions } from "../../../container/captions/shape-cues.ts"
import { segmentOf, spoken, spokenUnspaced } from "./spoken.ts"

/** Formats cues as `start-end line / line`. */
function written(cues: readonly SubtitleCue[]): string[] {
  return cues.map(({ startMs, endMs, lines }) => `${startMs}-${endMs} ${lines.join(" / ")}`)
}

describe("a cue ends", () => {
  test.for([
    [
      "where a sentence ends",
      "Good morning to all of you. We begin at nine today.",
      ["0-1720 Good morning to all of you.", "1800-3300 We begin at nine today."],
    ],
    [
      "after several sentences that are too short to be shown alone",
      "Yes. I know. Come in and sit down.",
      ["0-2400 Yes. I know. Come in and sit down."],
    ],
    [
      "where the speaker pauses",
      "We looked for the keys (0.8) under the table and found them.",
      ["0-1500 We looked for the keys", "2300-4124 under the table and found them."],
    ],
    [
      "not at a pause after a fragment",
      "Well, (0.6) I think that we should go.",
      ["0-2700 Well, I think that we should go."],
    ],
    [
      "at a long pause after a fragment, and lasts into the pause",
      "Well, (2.5) I think that we should go.",
      ["0-1000 Well,", "2800-4600 I think that we should go."],
    ],
    [
      "at the comma of a sentence that is too long",
      "When the old rain had finally stopped over the hills, we walked along the river until the sun was down.",
      [
        "0-2920 When the old rain had finally / stopped over the hills,",
        "3000-6000 we walked along the river / until the sun was down.",
      ],
    ],
    [
      "so that cues and lines without punctuation have similar lengths and no article at the end",
      "the quick brown fox jumps over the lazy dog and the lazy dog does not mind it at all because it is asleep",
      [
        "0-3520 the quick brown fox jumps / over the lazy dog and the lazy",
        "3600-6900 dog does not mind it at / all because it is asleep",
      ],
    ],
    [
      "not at a title, an initial or punctuation after a blank",
      "Mr. Smith met J. R. Hartley : at noon.",
      ["0-2700 Mr. Smith met J. R. Hartley : at noon."],
    ],
  ] as const)("%s", ([, text, expected]) => {
    expect(written(toSubtitleCues([spoken(text)]))).toEqual(expected)
  })

  test("before it has lasted seven seconds", () => {
    const cues = toSubtitleCues([spoken("one two three four five six seven eight", 0, 1.5)])
    expect(written(cues)).toEqual(["0-5920 one two three four", "6000-12000 five six seven eight"])
  })

  test("after seven seconds, even if its only word lasts longer", () => {
    const cues = toSubtitleCues([spoken("Hello", 0, 9), spoken("there.", 9.5)])
    expect(written(cues)).toEqual(["0-7000 Hello", "9500-10500 there."])
  })

  test("at the end of the audio", () => {
    const cues = toSubtitleCues([spoken("Bye.", 1)], { soundMs: 1500 })
    expect(written(cues)).toEqual(["1000-1500 Bye."])
  })
})

describe("a cue stays within its limit of", () => {
  test.for<[string, string, SubtitleCueOptions, string[]]>([
    [
      "words",
      "one two three four five six seven",
      { wordsPerCue: 3 },
      ["0-820 one two three", "900-1440 four five", "1500-2500 six seven"],
    ],
    [
      "one word, shown nearly until the next word",
      "one two three",
      { wordsPerCue: 1 },
      ["0-270 one", "300-570 two", "600-1600 three"],
    ],
    [
      "columns, with a word longer than a line",
      "Incomprehensibilities are hard to read aloud.",
      { maxLineLength: 12 },
      ["0-270 Incomprehens / ibilities", "300-1800 are hard to / read aloud."],
    ],
    [
      "columns of a wide line",
      "This sentence has more than forty-two characters in it.",
      { maxLineLength: 60 },
      ["0-3236 This sentence has more than forty-two characters in it."],
    ],
  ])("%s", ([, text, shape, expected]) => {
    expect(written(toSubtitleCues([spoken(text)], shape))).toEqual(expected)
  })
})

describe("scripts", () => {
  test("without blanks break between words, and wide characters count two", () => {
    const text =
      "今天天气很好，我们一起去公园散步吧。明天可能会下雨，所以我们应该带上雨伞，免得回家的路上被淋湿了。"
    expect(written(toSubtitleCues([spokenUnspaced(text)]))).toEqual([
      "0-3520 今天天气很好，我们一起去公园散步吧。",
      "3600-9800 明天可能会下雨，所以我们应该带 / 上雨伞，免得回家的路上被淋湿了。",
    ])
  })

  test("of Japanese begin no line with a punctuation mark", () => {
    const text = "私は毎朝コーヒーを飲みます。そして新聞を読んでから会社に行きます。"
    expect(written(toSubtitleCues([spokenUnspaced(text)], { maxLineLength: 20 }))).toEqual([
      "0-2720 私は毎朝コーヒー / を飲みます。",
      "2800-6600 そして新聞を読んで / から会社に行きます。",
    ])
  })

  test("without blanks get none between segments", () => {
    const cues = toSubtitleCues([spokenUnspaced("你好"), spokenUnspaced("世界", 0.4)])
    expect(written(cues)).toEqual(["0-1000 你好世界"])
  })

  test("of Thai keep vowels and tone marks with their letters", () => {
    const text = "สวัสดีครับผมชื่อสมชายวันนี้เราจะไปเที่ยวที่ตลาดน้ำกับเพื่อนของเรา"
    const lines = toSubtitleCues([spokenUnspaced(text, 0, 0.06)], { maxLineLength: 20 }).flatMap(
      (cue) => cue.lines,
    )
    expect(lines.join("")).toBe(text)
    expect(lines.filter((line) => /^\p{M}/u.test(line))).toEqual([])
  })

  test("from right to left keep their order and punctuation", () => {
    const text = "مرحبا بكم في هذا البرنامج، سنتحدث اليوم عن تاريخ المنارات. هل أنتم مستعدون؟"
    expect(toSubtitleCues([spoken(text)]).map(({ lines }) => lines)).toEqual([
      ["مرحبا بكم في هذا البرنامج،", "سنتحدث اليوم عن تاريخ المنارات."],
      ["هل أنتم مستعدون؟"],
    ])
  })

  test("with emoji sequences never break within one", () => {
    const family = "👩‍👩‍👧‍👦"
    const cues = toSubtitleCues([spokenUnspaced(family.repeat(12), 0, 0.01)], { maxLineLength: 10 })
    expect(cues.flatMap(({ lines }) => lines)).toEqual([
      family.repeat(5),
      family.repeat(5),
      family.repeat(2),
    ])
  })
})

describe("segments", () => {
  test("without words spread their text evenly over their time", () => {
    const text = " It was a dark night. Nobody was in the street."
    const segment = { start: 2, end: 8, text, confidence: 0.5, words: [] }
    expect(written(toSubtitleCues([segment]))).toEqual([
      "2000-4659 It was a dark night.",
      "4739-8000 Nobody was in the street.",
    ])
  })

  test("with equal and unordered times keep the order of their words", () => {
    function words(text: string, seconds: number) {
      const times = { start: seconds, end: seconds, confidence: 1 }
      return text.split(" ").map((word) => ({ ...times, word: ` ${word}` }))
    }
    const cues = toSubtitleCues([segmentOf(words("A b c.", 1)), segmentOf(words("D e.", 0.9))])
    expect(written(cues)).toEqual(["1000-2000 A b c. D e."])
  })

  test("with line ends and control characters become plain lines", () => {
    const word = " a\n\n2\n00:00 --> b\u0000\u2028"
    const cues = toSubtitleCues([segmentOf([{ start: 0, end: 1, word, confidence: 1 }])])
    expect(written(cues)).toEqual(["0-1000 a 2 00:00 --> b"])
  })

  test("without text give no cues", () => {
    const blank = { start: 0, end: 1, text: " \n", confidence: 0, words: [] }
    expect(toSubtitleCues([blank])).toEqual([])
    expect(toSubtitleCues([])).toEqual([])
  })
})
