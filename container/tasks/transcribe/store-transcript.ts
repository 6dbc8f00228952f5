import {
  TRANSCRIPT_FORMATS,
  TRANSCRIPT_MEDIA_TYPES,
} from "../../../src/contract/tasks/transcribe.ts"
import type { TranscribeWork, TranscriptFormat } from "../../../src/contract/tasks/transcribe.ts"
import { languageTag } from "../../../src/contract/whisper-languages.ts"
import type { OutputReport } from "../../../src/contract/report.ts"
import { shapeCues } from "../../captions/shape-cues.ts"
import type { Cue } from "../../captions/shape-cues.ts"
import { writeSrt, writeVtt } from "../../captions/write-subtitles.ts"
import { writeJson, writeText } from "../../captions/write-transcript.ts"
import { RunnerError } from "../../failures.ts"
import type { HeardSpeech } from "../../tools/whisper/transcribe-sound.ts"
import { mapWithConcurrency } from "../../transfer/promises.ts"
import { uploadText } from "../../transfer/upload.ts"
import type { RunContext } from "../run-context.ts"

type Transcript = Pick<HeardSpeech, "language" | "segments"> & { durationSeconds: number }

type Writer = (transcript: Transcript, cues: Cue[]) => string

const WRITERS: Record<TranscriptFormat, Writer> = {
  json: writeJson,
  srt: (_, cues) => writeSrt(cues),
  vtt: (_, cues) => writeVtt(cues),
  txt: ({ segments }) => writeText(segments),
}

/** Writes a transcript in each format, and stores them all at once. */
export async function storeTranscript(
  { io, signal }: RunContext,
  { outputs, language_tag: asked, ...shape }: TranscribeWork,
  heard: Transcript,
): Promise<OutputReport[]> {
  const { words_per_cue: wordsPerCue, max_line_length: maxLineLength } = shape
  const found = heard.language === null ? null : languageTag(heard.language)
  const transcript = { ...heard, language: asked ?? found }
  const soundMs = Math.floor(transcript.durationSeconds * 1000)
  const cues = shapeCues(transcript.segments, { wordsPerCue, maxLineLength, soundMs })
  const options = { limit: outputs.length, signal }
  return await mapWithConcurrency(outputs, options, async ({ key }, joint) => {
    const format = formatOf(key)
    const contentType = TRANSCRIPT_MEDIA_TYPES[format]
    const text = WRITERS[format](transcript, cues)
    await uploadText({ io, signal: joint }, { ioPath: `/outputs/${key}`, text, contentType })
    return { key, size_bytes: Buffer.byteLength(text), content_type: contentType }
  })
}

function formatOf(key: string): TranscriptFormat {
  const format = TRANSCRIPT_FORMATS.find((each) => each === key)
  if (!format) throw new RunnerError("internal", `A transcript has no format "${key}".`)
  return format
}
