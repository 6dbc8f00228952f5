import type { Readable } from "node:stream"
import type { TaskOrder } from "../../../src/contract/task.ts"
import type { SPEECH_TASKS } from "../../../src/contract/tasks/transcribe.ts"
import { RunnerError, callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import type { TaskSandbox } from "../../sandbox/sandbox.ts"
import { openPlainFile } from "../../sandbox/workspace.ts"
import type { RunnerSettings } from "../../settings.ts"
import { findModel, findWhisper } from "./environment.ts"
import type { Segment } from "../../captions/segment.ts"
import { toSegments } from "./sentences.ts"
import type { SpokenWord } from "./worker-lines.ts"
import type { Worker, WorkerAnswer } from "./worker.ts"
import { speechWorkersOf } from "./workers.ts"

const SAMPLE_BYTES = 2

/** The longest delay that a timer accepts. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** What whisper runs with: the settings and the state of a task's run. */
export type SpeechContext = {
  order: Pick<TaskOrder, "account_id">
  settings: RunnerSettings
  status: { processingMs: number }
  taskSandbox: TaskSandbox
  signal: AbortSignal
}

/** A sound and what is wanted of it. */
export type SpeechQuestion = {
  /** A file of mono samples of 16 bits, the low byte first, 16,000 a second, without a header. */
  path: string
  sampleCount: number
  /** Name of one of the deployment's models. */
  model: string
  /** Whisper's code of the language that is spoken; `auto` finds it. */
  language: string
  task: (typeof SPEECH_TASKS)[number]
  prompt?: string | undefined
  timeLimitMs: number
  /** Called when a worker has the task. */
  onSpawn?: () => void
  /** Fraction from 0 to 1 of the sound that was heard so far. */
  onFraction: (fraction: number) => void
}

/** What was said; without speech there are no segments, and the language is the one asked for. */
export type HeardSpeech = {
  /** Whisper's code; null where nothing was said and none was asked for. */
  language: string | null
  /** From 0 to 1; null where the language was asked for, or not found. */
  languageProbability: number | null
  segments: Segment[]
}

/**
 * Has whisper write down what is said in a sound, unless that takes longer than it may. Throws a
 * RunnerError where this runner cannot do that, or its worker did not end well.
 */
export async function transcribeSound(
  { order, settings, signal, status, taskSandbox }: SpeechContext,
  question: SpeechQuestion,
): Promise<HeardSpeech | TaskFailure | "time limit"> {
  if (question.timeLimitMs <= 0) return "time limit"
  const asked = question.language === "auto" ? null : question.language
  if (question.sampleCount === 0)
    return { language: asked, languageProbability: null, segments: [] }
  const accountId = order.account_id ?? null
  const found = requireWhisper(settings, question.model)
  const spec = { sandbox: taskSandbox.sandbox, ...found, accountId }
  await using file = await openPlainFile(question.path)
  const bytes = SAMPLE_BYTES * question.sampleCount
  if ((await file.stat()).size < bytes) {
    throw new RunnerError("internal", "The decoded sound is shorter than it was said to be.")
  }
  signal.throwIfAborted()
  const lease = await speechWorkersOf(settings).take(spec)
  const startedMs = performance.now()
  const limit = AbortSignal.timeout(Math.min(Math.ceil(question.timeLimitMs), TIMER_MS_MAX))
  let isReusable = false
  try {
    question.onSpawn?.()
    const sound = file.createReadStream({ end: bytes - 1, autoClose: false })
    const stop = AbortSignal.any([signal, limit])
    const answer = await ask(lease.worker, { question, sound, signal: stop })
    signal.throwIfAborted()
    // Who answers in the moment of the limit is killed all the same.
    isReusable = "segments" in answer && !stop.aborted
    if ("segments" in answer) return answer
    return limit.aborted ? "time limit" : explain(answer)
  } finally {
    status.processingMs += performance.now() - startedMs
    await lease.release(isReusable)
  }
}

function requireWhisper(settings: RunnerSettings, model: string) {
  const whisper = findWhisper(settings)
  if (!whisper) {
    throw new RunnerError("internal", "This runner has no whisper, so it cannot transcribe.")
  }
  const modelFolder = findModel(settings, model)
  if (modelFolder === null) {
    throw new RunnerError("internal", `This runner does not have the speech model "${model}".`)
  }
  return { whisper, modelFolder }
}

/** Has a worker hear a sound; it is killed where the signal aborts. */
async function ask(
  worker: Worker,
  run: { question: SpeechQuestion; sound: Readable; signal: AbortSignal },
): Promise<HeardSpeech | Exclude<WorkerAnswer, { kind: "done" }>> {
  const { sampleCount, language, task, prompt, onFraction } = run.question
  const asked = language === "auto" ? null : language
  const order = { samples: sampleCount, language: asked, task, prompt: prompt ?? null }
  const words: SpokenWord[] = []
  function kill(): void {
    void worker.kill()
  }
  run.signal.addEventListener("abort", kill)
  if (run.signal.aborted) kill()
  try {
    const answer = await worker.hear(order, run.sound, (line) => {
      if (line.kind === "words") words.push(...line.words)
      if (line.kind === "progress") onFraction(line.fraction)
    })
    if (answer.kind !== "done") return answer
    const { language: heard, probability } = answer
    return { language: heard, languageProbability: probability, segments: toSegments(words) }
  } finally {
    run.signal.removeEventListener("abort", kill)
  }
}

/** What it means that a worker did not do its task; throws where that is no fault of the caller's. */
function explain(answer: Exclude<WorkerAnswer, { kind: "done" }>): TaskFailure {
  if (answer.kind === "error") {
    if (answer.isOutOfMemory) return outOfMemory()
    throw new RunnerError("internal", "The speech engine failed.", {
      cause: new Error(answer.message),
    })
  }
  const { cause, signal, spawnError, stderrTail } = answer.end
  if (cause === "out_of_memory") return outOfMemory()
  if (cause === "cpu_limit") {
    const message = "It was stopped: it used all the processor time that it may have."
    return callerFailure("cpu_limit", message)
  }
  const ending = cause === "spawn_failed" ? "could not be started" : "ended before its work did"
  throw new RunnerError("internal", `The speech engine ${ending}.`, {
    cause: new Error(spawnError ?? (stderrTail || `signal: ${signal}`)),
  })
}

function outOfMemory(): TaskFailure {
  const message = "The sound needs more memory than there is with this model: use a smaller one."
  return callerFailure("out_of_memory", message)
}
