import { expect, test } from "vitest"
import { toTranscriptSegments } from "../../../../container/tools/whisper/transcribe-audio.ts"
import type { RecognizedWord } from "../../../../container/tools/whisper/worker-lines.ts"

/** Returns words of half a second each from a start time. */
function spoken(text: string, from = 0): RecognizedWord[] {
  return text.split(" ").map((word, index) => {
    const start = from + index * 0.5
    return [start, start + 0.5, ` ${word}`, 0.5]
  })
}

function textsOf(words: RecognizedWord[]): string[] {
  return toTranscriptSegments(words).map(({ text }) => text)
}

test("a sentence is a segment, with its times and the mean confidence of its words", () => {
  expect(
    toTranscriptSegments([
      ...spoken("One two.").slice(0, 1),
      [0.5, 1, " two.", 1],
      ...spoken("Three", 1),
    ]),
  ).toEqual([
    {
      start: 0,
      end: 1,
      text: "One two.",
      confidence: 0.75,
      words: [
        { start: 0, end: 0.5, word: " One", confidence: 0.5 },
        { start: 0.5, end: 1, word: " two.", confidence: 1 },
      ],
    },
    {
      start: 1,
      end: 1.5,
      text: "Three",
      confidence: 0.5,
      words: [{ start: 1, end: 1.5, word: " Three", confidence: 0.5 }],
    },
  ])
})

test.each([
  ["a quotation", "He said “stop!” Then he left.", ["He said “stop!”", "Then he left."]],
  ["a number", "It costs 3.50 here", ["It costs 3.50 here"]],
  ["nothing", "", []],
])("sentences end correctly in %s", (_, text, segments) => {
  expect(textsOf(text === "" ? [] : spoken(text))).toEqual(segments)
})

test("a pause ends a segment", () => {
  expect(textsOf([...spoken("one two"), ...spoken("three", 2)])).toEqual(["one two", "three"])
})

test("speech without sentences is cut after 30 seconds", () => {
  const words = spoken(Array.from({ length: 100 }, () => "on").join(" "))
  expect(toTranscriptSegments(words).map(({ end, start }) => end - start)).toEqual([30, 20])
})
