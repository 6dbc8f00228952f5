import { rm, stat } from "node:fs/promises"
import {
  transcribeTaskDefinition,
  TRANSCRIPT_FORMATS,
  TRANSCRIPT_MEDIA_TYPES,
} from "../../../src/contract/tasks/transcribe.ts"
import type {
  TranscribeResult,
  TranscribeWork,
  TranscriptFormat,
} from "../../../src/contract/tasks/transcribe.ts"
import type { Warning } from "../../../src/contract/warning.ts"
import {
  formatTranscriptInOneLine,
  formatTranscriptJson,
  formatTranscriptText,
} from "../../captions/format-transcript.ts"
import { createCallerFailure, RunnerError } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { transcribeAudio } from "../../tools/whisper/transcribe-audio.ts"
import type { SpeechTranscript } from "../../tools/whisper/transcribe-audio.ts"
import { startRunClock } from "../run-clock.ts"
import type { RunClock } from "../run-clock.ts"
import { markProcessStarted } from "../run-context.ts"
import type { RunContext, TaskOutcome } from "../run-context.ts"
import { downloadSingleInput } from "../single-input.ts"
import { whisperCodeToLanguageTag } from "../../../src/contract/whisper-languages.ts"
import type { OutputReport } from "../../../src/contract/report.ts"
import { toSubtitleCues } from "../../captions/shape-cues.ts"
import type { SubtitleCue } from "../../captions/shape-cues.ts"
import { formatSrt, formatVtt } from "../../captions/format-subtitles.ts"
import { mapWithConcurrency } from "../../transfer/concurrency-and-retry.ts"
import { uploadTextOutput } from "../../transfer/upload-outputs.ts"
import { buildWorkspacePath } from "../../sandbox/workspace.ts"
import { readMovieHeader } from "../../tools/ffmpeg/movie-header.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import { findInputDamageWarnings } from "../outputs/check-stored-outputs.ts"
import { runFfmpegPass } from "../run-ffmpeg-pass.ts"
import { encryptedAudioFailure, createNoAudioFailure } from "../audio-failures.ts"

export const transcribeTaskHandler = {
  definition: transcribeTaskDefinition,
  run: runTranscribeTask,
}

/**
 * Runs a transcription task: decodes the audio of the input, transcribes the audio by
 * faster-whisper, and stores the transcripts.
 */
async function runTranscribeTask(
  context: RunContext,
  work: TranscribeWork,
): Promise<TaskOutcome<TranscribeResult>> {
  const input = await downloadSingleInput(context, "A transcription")
  const clock = startRunClock(context, {
    secondsMax: work.run_seconds_max,
    what: "a transcription",
  })
  const sound = await decodeSound(context, clock, input)
  if ("failure" in sound) return sound
  const speech = await transcribeWithinLimit(context, clock, work, sound)
  if ("failure" in speech) return speech
  context.status.phase = "uploading"
  const { language, segments } = speech
  const durationSeconds = Math.round((sound.sampleCount / SAMPLES_PER_SECOND) * 1000) / 1000
  const outputs = await storeTranscript(context, work, { language, segments, durationSeconds })
  const text = formatTranscriptInOneLine(segments)
  const warnings = [...sound.warnings, ...(text === "" ? [NO_SPEECH] : [])]
  return {
    result: {
      kind: "transcribe",
      outputs,
      language,
      duration_seconds: durationSeconds,
      text,
      warnings,
    },
  }
}

const NO_SPEECH: Warning = {
  code: "no_speech",
  message: "The audio contains no speech, so the transcript is empty.",
}

async function transcribeWithinLimit(
  context: RunContext,
  clock: RunClock,
  { model, language, task, prompt }: TranscribeWork,
  { path, sampleCount }: Sound,
): Promise<SpeechTranscript | TaskFailure> {
  try {
    const transcription = await transcribeAudio(context, {
      path,
      sampleCount,
      model,
      language,
      task,
      prompt,
      timeLimitMs: clock.leftMs(),
      onSpawn: () => markProcessStarted(context, "whisper"),
      onFraction: (fraction) => clock.report(DECODE_SHARE + (1 - DECODE_SHARE) * fraction),
    })
    if (transcription !== "time limit") return transcription
    return createCallerFailure("time_limit", clock.describeLimit())
  } finally {
    await rm(path, { force: true })
  }
}

type Transcript = Pick<SpeechTranscript, "language" | "segments"> & { durationSeconds: number }

type FormatTranscript = (transcript: Transcript, cues: SubtitleCue[]) => string

const TRANSCRIPT_FORMATTERS: Record<TranscriptFormat, FormatTranscript> = {
  json: formatTranscriptJson,
  srt: (_, cues) => formatSrt(cues),
  vtt: (_, cues) => formatVtt(cues),
  txt: ({ segments }) => formatTranscriptText(segments),
}

/** Stores a transcript in each requested format. Uploads all formats at the same time. */
async function storeTranscript(
  { io, signal }: RunContext,
  { outputs, language_tag: requestedTag, ...shape }: TranscribeWork,
  speech: Transcript,
): Promise<OutputReport[]> {
  const { words_per_cue: wordsPerCue, max_line_length: maxLineLength } = shape
  const found = speech.language === null ? null : whisperCodeToLanguageTag(speech.language)
  const transcript = { ...speech, language: requestedTag ?? found }
  const soundMs = Math.floor(transcript.durationSeconds * 1000)
  const cues = toSubtitleCues(transcript.segments, { wordsPerCue, maxLineLength, soundMs })
  const options = { limit: outputs.length, signal }
  return await mapWithConcurrency(outputs, options, async ({ key }, joint) => {
    const format = formatOf(key)
    const contentType = TRANSCRIPT_MEDIA_TYPES[format]
    const text = TRANSCRIPT_FORMATTERS[format](transcript, cues)
    await uploadTextOutput({ io, signal: joint }, { ioPath: `/outputs/${key}`, text, contentType })
    return { key, size_bytes: Buffer.byteLength(text), content_type: contentType }
  })
}

function formatOf(key: string): TranscriptFormat {
  const format = TRANSCRIPT_FORMATS.find((each) => each === key)
  if (!format) throw new RunnerError("internal", `A transcript has no format "${key}".`)
  return format
}

/** Decoded mono audio in the workspace: a file of 16-bit little-endian samples without a header. */
type Sound = { path: string; sampleCount: number; warnings: Warning[] }

const SAMPLES_PER_SECOND = 16_000

/**
 * Progress of a transcription task, from 0 to 1, at which decoding of the audio is finished and
 * speech recognition starts.
 */
const DECODE_SHARE = 0.05

const SAMPLE_BYTES = 2
/**
 * File name of the decoded audio in the workspace. No input has this file name, since the file name
 * of an input begins with its key.
 */
const SOUND_NAME = "sound.s16le"

/**
 * Filters of ffmpeg that mix channels to mono. Floating-point samples prevent clipping of loud
 * peaks. The left and right channels have different weights, so that channels of opposite polarity
 * do not cancel out.
 */
const MIX = "aformat=sample_fmts=fltp:channel_layouts=mono|stereo,pan=mono|c0=FC+0.6*FL+0.4*FR"
/** Filters of ffmpeg that mix to mono if the channel layout is unknown: the first two channels. */
const NAMELESS_MIX = "aformat=sample_fmts=fltp,pan=mono|c0=0.6*c0+0.4*c1"
const IS_NAMELESS = /Rematrix is needed|Input channel layout .* is not supported/
/**
 * Filter of ffmpeg that fills gaps and a late start of the audio with silence, so that times in the
 * transcript agree with times in the input.
 */
const RESAMPLE = `aresample=${SAMPLES_PER_SECOND}:async=1:first_pts=0`

/**
 * Decodes the audio stream that ffmpeg selects by default. The result is mono audio with 16,000
 * samples per second.
 */
async function decodeSound(
  context: RunContext,
  clock: RunClock,
  name: string,
): Promise<Sound | TaskFailure> {
  const mixed = await decode(context, clock, name, MIX)
  const isNameless =
    "failure" in mixed && mixed.failure.lines.some((line) => IS_NAMELESS.test(line))
  const run = isNameless ? await decode(context, clock, name, NAMELESS_MIX) : mixed
  const lines = "failure" in run ? run.failure.lines : run.complaints
  if (await isEncrypted(context, name, run)) return encryptedAudioFailure(lines)
  if ("failure" in run) return run.failure.code === "no_output" ? createNoAudioFailure() : run
  const path = buildWorkspacePath(context.workspace, SOUND_NAME)
  const sampleCount = Math.floor((await stat(path)).size / SAMPLE_BYTES)
  if (sampleCount === 0 && run.notes.damage.length > 0) return undecodable(run)
  return { path, sampleCount, warnings: findInputDamageWarnings(context, run) }
}

async function decode(
  context: RunContext,
  clock: RunClock,
  name: string,
  mix: string,
): Promise<FinishedFfmpegRun | TaskFailure> {
  const filters = `${mix},${RESAMPLE}`
  const argv = ["-i", name, "-vn", "-sn", "-dn", "-af", filters, "-f", "s16le", SOUND_NAME]
  return await runFfmpegPass(context, clock, { argv, from: 0, to: DECODE_SHARE })
}

/**
 * Reports whether audio could not be decoded because the input is encrypted. The exit code of
 * ffmpeg does not show this, since a decoder may produce noise from parts of encrypted data.
 */
async function isEncrypted(
  { workspace }: RunContext,
  name: string,
  run: FinishedFfmpegRun | TaskFailure,
): Promise<boolean> {
  const isDamaged =
    "failure" in run ? run.failure.code === "invalid_input" : run.notes.damage.length > 0
  return isDamaged && (await readMovieHeader(buildWorkspacePath(workspace, name))).isEncrypted
}

/**
 * Returns the failure for damaged audio without a decodable sample. ffmpeg itself reports success
 * for such audio.
 */
function undecodable({ complaints }: FinishedFfmpegRun): TaskFailure {
  const message = "The audio of the input is damaged and cannot be decoded."
  return createCallerFailure("invalid_input", message, complaints)
}
