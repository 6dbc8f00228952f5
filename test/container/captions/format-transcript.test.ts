import { expect, test } from "vitest"
import {
  formatTranscriptInOneLine,
  formatTranscriptJson,
  formatTranscriptText,
} from "../../../container/captions/format-transcript.ts"
import { segmentOf, spoken, spokenUnspaced } from "./spoken.ts"

test("text has a line for each sentence, across segments", () => {
  const segments = [spoken("Good morning. We begin"), spoken("at nine, all of us. Yes!", 1.2)]
  expect(formatTranscriptText(segments)).toBe("Good morning.\nWe begin at nine, all of us.\nYes!\n")
  expect(formatTranscriptInOneLine(segments)).toBe(
    "Good morning. We begin at nine, all of us. Yes!",
  )
})

test("text without punctuation breaks lines at pauses", () => {
  const segments = [spokenUnspaced("今天天气"), spokenUnspaced("我们去", 2)]
  expect(formatTranscriptText(segments)).toBe("今天天气\n我们去\n")
})

test("text of no segments is empty", () => {
  expect(formatTranscriptText([])).toBe("")
  expect(formatTranscriptInOneLine([])).toBe("")
})

test("plain text has single blanks and no line ends", () => {
  const words = [" a ", "  b", "\n", "\r\nc", "-d"]
  const segment = segmentOf(
    words.map((word, start) => ({ start, end: start + 1, word, confidence: 1 })),
  )
  expect(formatTranscriptInOneLine([segment])).toBe("a b c-d")
})

test("JSON rounds times and confidence to thousandths", () => {
  const words = [
    { start: 0.12345, end: 0.5, word: " Hello", confidence: 0.98765 },
    { start: 0.5, end: 0.98, word: " there.", confidence: 1 },
  ]
  const segments = [{ start: 0.12345, end: 0.98, text: " Hello there.", confidence: 0.9938, words }]
  const written = formatTranscriptJson({ language: "en", durationSeconds: 1.00049, segments })
  expect(written.endsWith("\n")).toBe(true)
  expect(JSON.parse(written)).toEqual({
    language: "en",
    duration_seconds: 1,
    text: "Hello there.",
    segments: [
      {
        id: 0,
        start: 0.123,
        end: 0.98,
        text: "Hello there.",
        confidence: 0.994,
        words: [
          { start: 0.123, end: 0.5, word: "Hello", confidence: 0.988 },
          { start: 0.5, end: 0.98, word: "there.", confidence: 1 },
        ],
      },
    ],
  })
})

test("JSON of no segments has an empty list", () => {
  expect(
    JSON.parse(formatTranscriptJson({ language: null, durationSeconds: 0, segments: [] })),
  ).toEqual({
    language: null,
    duration_seconds: 0,
    text: "",
    segments: [],
  })
})
