import type { Readable } from "node:stream"
import type { TaskOrder } from "../../../src/contract/task.ts"
import type { WHISPER_TASKS } from "../../../src/contract/tasks/transcribe.ts"
import { createCallerFailure, RunnerError } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import type { TaskSandbox } from "../../sandbox/sandbox.ts"
import { openToolWrittenFile } from "../../sandbox/workspace.ts"
import type { RunnerSettings } from "../../settings.ts"
import { findSpeechModelFolder, findWhisperInstallation } from "./whisper-environment.ts"
import type { TranscriptSegment } from "../../captions/transcript-segment.ts"
import type { RecognizedWord } from "./worker-lines.ts"
import type { SpeechWorker, SpeechWorkerAnswer } from "./speech-worker.ts"
import { getSpeechWorkerPool } from "./speech-worker-pool.ts"

const SAMPLE_BYTES = 2

/** Longest delay that a timer of Node accepts, in milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Values of a task's run that a transcription needs, such as settings and sandbox. */
export type TranscriptionContext = {
  order: Pick<TaskOrder, "account_id">
  settings: RunnerSettings
  status: { processingMs: number }
  taskSandbox: TaskSandbox
  signal: AbortSignal
}

/** Audio to transcribe, and options of the transcription. */
export type TranscriptionRequest = {
  /** Path of the audio file: mono samples, 16-bit little-endian, 16,000 Hz, without a header. */
  path: string
  sampleCount: number
  /** Name of a speech model in the settings. */
  model: string
  /** Language code of Whisper for the speech, or `auto` to detect the language. */
  language: string
  task: (typeof WHISPER_TASKS)[number]
  prompt?: string | undefined
  timeLimitMs: number
  /** Called when a speech worker has started the task. */
  onSpawn?: () => void
  /** Called with the transcribed share of the audio, from 0 to 1. */
  onFraction: (fraction: number) => void
}

/**
 * Transcript of audio. Without speech, the transcript has no segments, and `language` is the
 * requested language.
 */
export type SpeechTranscript = {
  /**
   * Whisper's code of the language; null if no language was requested and the audio contains no
   * speech.
   */
  language: string | null
  /** Probability of the detected language, from 0 to 1; null if no language was detected. */
  languageProbability: number | null
  segments: TranscriptSegment[]
}

/**
 * Transcribes audio by faster-whisper within a time limit. Throws a RunnerError if faster-whisper
 * or the model is not installed, or if the speech worker fails.
 */
export async function transcribeAudio(
  { order, settings, signal, status, taskSandbox }: TranscriptionContext,
  request: TranscriptionRequest,
): Promise<SpeechTranscript | TaskFailure | "time limit"> {
  if (request.timeLimitMs <= 0) return "time limit"
  const requestedLanguage = request.language === "auto" ? null : request.language
  if (request.sampleCount === 0)
    return { language: requestedLanguage, languageProbability: null, segments: [] }
  const accountId = order.account_id ?? null
  const found = requireWhisper(settings, request.model)
  const spec = { sandbox: taskSandbox.sandbox, ...found, accountId }
  await using file = await openToolWrittenFile(request.path)
  const bytes = SAMPLE_BYTES * request.sampleCount
  if ((await file.stat()).size < bytes) {
    throw new RunnerError("internal", "The decoded audio is shorter than announced.")
  }
  signal.throwIfAborted()
  const lease = await getSpeechWorkerPool(settings).take(spec)
  const startedMs = performance.now()
  const limit = AbortSignal.timeout(Math.min(Math.ceil(request.timeLimitMs), TIMER_MS_MAX))
  let isReusable = false
  try {
    request.onSpawn?.()
    const sound = file.createReadStream({ end: bytes - 1, autoClose: false })
    const stop = AbortSignal.any([signal, limit])
    const answer = await runWorkerTask(lease.worker, { request, sound, signal: stop })
    signal.throwIfAborted()
    // Does not reuse a worker that answered at the moment of the time limit, because the worker is
    // already being killed.
    isReusable = "segments" in answer && !stop.aborted
    if ("segments" in answer) return answer
    return limit.aborted ? "time limit" : explain(answer)
  } finally {
    status.processingMs += performance.now() - startedMs
    await lease.release(isReusable)
  }
}

function requireWhisper(settings: RunnerSettings, model: string) {
  const whisper = findWhisperInstallation(settings)
  if (!whisper) {
    throw new RunnerError("internal", "This runner has no whisper, so it cannot transcribe.")
  }
  const modelFolder = findSpeechModelFolder(settings, model)
  if (modelFolder === null) {
    throw new RunnerError("internal", `This runner does not have the speech model "${model}".`)
  }
  return { whisper, modelFolder }
}

/**
 * Sends a task to a speech worker, and collects the words. Kills the worker if the signal aborts.
 */
async function runWorkerTask(
  worker: SpeechWorker,
  run: { request: TranscriptionRequest; sound: Readable; signal: AbortSignal },
): Promise<SpeechTranscript | Exclude<SpeechWorkerAnswer, { kind: "done" }>> {
  const { sampleCount, language, task, prompt, onFraction } = run.request
  const requestedLanguage = language === "auto" ? null : language
  const order = { samples: sampleCount, language: requestedLanguage, task, prompt: prompt ?? null }
  const words: RecognizedWord[] = []
  function kill(): void {
    void worker.kill()
  }
  run.signal.addEventListener("abort", kill)
  if (run.signal.aborted) kill()
  try {
    const answer = await worker.transcribe(order, run.sound, (line) => {
      if (line.kind === "words") words.push(...line.words)
      if (line.kind === "progress") onFraction(line.fraction)
    })
    if (answer.kind !== "done") return answer
    const { language: heard, probability } = answer
    return {
      language: heard,
      languageProbability: probability,
      segments: toTranscriptSegments(words),
    }
  } finally {
    run.signal.removeEventListener("abort", kill)
  }
}

/**
 * Returns the failure of a task that a speech worker did not finish. Throws a RunnerError if the
 * task is not the cause.
 */
function explain(answer: Exclude<SpeechWorkerAnswer, { kind: "done" }>): TaskFailure {
  if (answer.kind === "error") {
    if (answer.isOutOfMemory) return outOfMemory()
    throw new RunnerError("internal", "The speech engine failed.", {
      cause: new Error(answer.message),
    })
  }
  const { cause, signal, spawnError, stderrTail } = answer.end
  if (cause === "out_of_memory") return outOfMemory()
  if (cause === "cpu_limit") {
    const message = "The tool was stopped: it exceeded its limit of processor time."
    return createCallerFailure("cpu_limit", message)
  }
  const ending =
    cause === "spawn_failed" ? "could not be started" : "ended before the end of its work"
  throw new RunnerError("internal", `The speech engine ${ending}.`, {
    cause: new Error(spawnError ?? (stderrTail || `signal: ${signal}`)),
  })
}

function outOfMemory(): TaskFailure {
  const message = "The audio exceeds the memory limit with this model: use a smaller model."
  return createCallerFailure("out_of_memory", message)
}

/** Matches the end of a sentence, with closing quotes and brackets. */
const SENTENCE_END = /[.!?。！？…][\p{Pe}\p{Pf}"'”’]*$/u

/** Shortest pause that ends a segment, and maximum length of a segment, in seconds. */
const PAUSE_SECONDS_MIN = 1
const SEGMENT_SECONDS_MAX = 30

/** Groups words into transcript segments, which end after sentences and at pauses. */
export function toTranscriptSegments(words: readonly RecognizedWord[]): TranscriptSegment[] {
  const groups: RecognizedWord[][] = []
  for (const word of words) {
    const group = groups.at(-1)
    if (group && !endsBefore(group, word)) group.push(word)
    else groups.push([word])
  }
  return groups.flatMap(toSegment)
}

function endsBefore(group: readonly RecognizedWord[], [start, end]: RecognizedWord): boolean {
  const [first] = group
  const last = group.at(-1)
  if (!first || !last) return false
  const isPause = start - last[1] >= PAUSE_SECONDS_MIN
  return isPause || SENTENCE_END.test(last[2].trimEnd()) || end - first[0] > SEGMENT_SECONDS_MAX
}

function toSegment(group: readonly RecognizedWord[]): TranscriptSegment[] {
  const words = group.map(([start, end, word, confidence]) => ({ start, end, word, confidence }))
  const text = words
    .map(({ word }) => word)
    .join("")
    .trim()
  const [first] = words
  const last = words.at(-1)
  if (!first || !last || text === "") return []
  const sum = words.reduce((total, { confidence }) => total + confidence, 0)
  return [{ start: first.start, end: last.end, text, confidence: sum / words.length, words }]
}
