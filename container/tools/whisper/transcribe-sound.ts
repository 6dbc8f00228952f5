import type { TaskOrder } from "../../../src/contract/task.ts"
import type { SPEECH_TASKS } from "../../../src/contract/tasks/transcribe.ts"
import { RunnerError } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import type { TaskSandbox } from "../../sandbox/sandbox.ts"
import type { RunnerSettings } from "../../settings.ts"
import type { Segment } from "./segment.ts"

/** What whisper runs with: the settings and the state of a task's run. */
export type SpeechContext = {
  order: Pick<TaskOrder, "plan" | "work">
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

/** Has whisper write down what is said in a sound. */
export async function transcribeSound(
  _context: SpeechContext,
  _question: SpeechQuestion,
): Promise<HeardSpeech | TaskFailure> {
  await Promise.resolve()
  throw new RunnerError("internal", "This runner has no whisper, so it cannot transcribe.")
}
