import type { TranscriptSegment } from "./transcript-segment.ts"
import { classifyGapAfterWord, computePauseMs, NOTICEABLE_PAUSE_MS } from "./word-boundaries.ts"
import { joinCaptionWords, splitIntoCaptionWords } from "./caption-words.ts"
import type { CaptionWord } from "./caption-words.ts"

/** Formats the text of all transcript segments as one line. */
export function formatTranscriptInOneLine(segments: readonly TranscriptSegment[]): string {
  return joinCaptionWords(splitIntoCaptionWords(segments, Infinity))
}

/**
 * Formats a transcript as the content of a plain text file. A line ends after each sentence, and
 * after a segment that is followed by a pause.
 */
export function formatTranscriptText(segments: readonly TranscriptSegment[]): string {
  const lines: CaptionWord[][] = []
  let line: CaptionWord[] = []
  const words = splitIntoCaptionWords(segments, Infinity)
  for (const [index, word] of words.entries()) {
    line.push(word)
    if (!endsLine(word, words[index + 1])) continue
    lines.push(line)
    line = []
  }
  return lines.map((each) => `${joinCaptionWords(each)}\n`).join("")
}

function endsLine(word: CaptionWord, next: CaptionWord | undefined): boolean {
  if (!next || classifyGapAfterWord(word, next) === "sentence") return true
  return word.endsSegment && computePauseMs(word, next) >= NOTICEABLE_PAUSE_MS
}

/**
 * Formats a transcript as the content of a JSON file: segments and words, with times in seconds and
 * with confidence from 0 to 1.
 */
export function formatTranscriptJson(transcript: {
  language: string | null
  durationSeconds: number
  segments: readonly TranscriptSegment[]
}): string {
  const { language, durationSeconds, segments } = transcript
  const value = {
    language,
    duration_seconds: round(durationSeconds),
    text: formatTranscriptInOneLine(segments),
    segments: segments.map(({ start, end, text, confidence, words }, index) => ({
      id: index,
      start: round(start),
      end: round(end),
      text: text.trim(),
      confidence: round(confidence),
      words: words.map(({ start: from, end: to, word, confidence: certainty }) => ({
        start: round(from),
        end: round(to),
        word: word.trim(),
        confidence: round(certainty),
      })),
    })),
  }
  return `${JSON.stringify(value)}\n`
}

/** Rounds a number to three decimal places. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
