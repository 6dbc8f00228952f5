import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { availableParallelism } from "node:os"
import type { ToolProcessResult } from "../../sandbox/tool-process.ts"
import type { Sandbox } from "../../sandbox/sandbox.ts"
import { startToolProcess } from "../../sandbox/start-process.ts"
import { destroyTaskSandbox, createTaskSandbox } from "../../sandbox/task-sandbox.ts"
import { listModelReadPaths, whisperDriverArgv } from "./whisper-environment.ts"
import type { WhisperInstallation } from "./whisper-environment.ts"
import { parseSpeechWorkerLine } from "./worker-lines.ts"
import type { SpeechWorkerErrorLine, SpeechWorkerLine } from "./worker-lines.ts"

/**
 * Time limit of a speech worker's process, in milliseconds. The limit is longer than any worker is
 * in use, since the time limit of each task is enforced by transcribe-audio.ts.
 */
const LIFE_MS_MAX = 7 * 24 * 3_600_000
const LEAVE_MS_MAX = 1000

/**
 * Address space, in bytes, that a speech worker may have in addition to the limit for all tools.
 * Threads of the inference engine reserve more address space than they use.
 */
const EXTRA_MEMORY_BYTES = 4 * 1024 ** 3

/** Sandbox, speech model and account of a speech worker. */
export type SpeechWorkerSpec = {
  sandbox: Sandbox
  whisper: WhisperInstallation
  modelFolder: string
  /** Account whose tasks the worker runs; null if tasks name no account. */
  accountId: string | null
}

/**
 * Order to transcribe audio, which the Python driver reads from its standard input as a line of
 * JSON. The samples of the audio follow the line.
 */
export type SpeechTaskOrder = {
  samples: number
  language: string | null
  task: string
  prompt: string | null
}

/**
 * Answer of a speech worker to a task: the last line of the Python driver about the task, or the
 * end of the worker's process.
 */
export type SpeechWorkerAnswer =
  | Extract<SpeechWorkerLine, { kind: "done" }>
  | SpeechWorkerErrorLine
  | { kind: "gone"; end: ToolProcessResult }

/** Process that keeps a speech model in memory and transcribes one task after another. */
export type SpeechWorker = {
  pid: number | null
  /**
   * Transcribes audio. Only one call may be in progress at a time. Rejects if the audio cannot be
   * read; the caller must then kill the worker.
   */
  transcribe(
    order: SpeechTaskOrder,
    sound: Readable,
    onLine: (line: SpeechWorkerLine) => void,
  ): Promise<SpeechWorkerAnswer>
  /** Kills the speech worker. Resolves when the process of the worker has ended. */
  kill(): Promise<void>
  /**
   * Ends an idle speech worker by closing its stdin. Resolves when the process of the worker has
   * ended.
   */
  leave(): Promise<void>
  /** Resolves when the process of the worker has ended, for any reason. */
  ended: Promise<ToolProcessResult>
}

/**
 * Returns the sandbox options of a speech worker, which may read its packages and its model, and
 * write nothing.
 */
export function speechWorkerLaunchOptions({
  sandbox,
  whisper,
  modelFolder,
}: Omit<SpeechWorkerSpec, "accountId">) {
  return {
    tool: whisper.python,
    cwd: "/",
    access: "none",
    read: [...whisper.read, ...listModelReadPaths(modelFolder)],
    memoryBytes: sandbox.limits.memoryBytes + EXTRA_MEMORY_BYTES,
  } as const
}

/** Starts a speech worker in its own sandbox. */
export function startSpeechWorker(spec: SpeechWorkerSpec): SpeechWorker {
  const taskSandbox = createTaskSandbox(spec.sandbox)
  const ending = new AbortController()
  const exited = new AbortController()
  let task: RunningTask | null = null
  const started = startToolProcess({
    ...speechWorkerLaunchOptions(spec),
    argv: whisperDriverArgv("main.py"),
    stdin: { open: true },
    taskSandbox,
    timeLimitMs: LIFE_MS_MAX,
    signal: ending.signal,
    onProgressLine: (text) => {
      const line = parseSpeechWorkerLine(text)
      if (line) task?.onLine(line)
    },
  })
  const { stdin } = started
  const setup = { packages: spec.whisper.packages, model: spec.modelFolder }
  stdin?.write(toLine({ ...setup, threads: availableParallelism() }))
  async function end(): Promise<ToolProcessResult> {
    const processEnd = await started.finished
    exited.abort()
    await destroyTaskSandbox(taskSandbox, null)
    task?.onGone(processEnd)
    return processEnd
  }
  const ended = end()
  async function kill(): Promise<void> {
    ending.abort()
    await ended
  }
  return {
    pid: started.pid,
    async transcribe(order, sound, listener) {
      if (exited.signal.aborted) return { kind: "gone", end: await ended }
      task = openTask(listener)
      // Sends nothing if stdin is closed. The answer is then the end of the worker's process, which
      // tells more than the error of a broken pipe.
      if (stdin?.writable === true) {
        send(order, sound, { stdin, exited: exited.signal }).catch(task.fail)
      }
      try {
        return await task.answer
      } finally {
        task = null
        sound.destroy()
      }
    },
    kill,
    async leave() {
      stdin?.end()
      await Promise.race([ended, sleep(LEAVE_MS_MAX)])
      await kill()
    },
    ended,
  }
}

type RunningTask = ReturnType<typeof openTask>

/**
 * Creates the state of a worker's current task: a listener for the lines of the driver, and a
 * promise of the answer.
 */
function openTask(listener: (line: SpeechWorkerLine) => void) {
  const { promise, resolve, reject } = Promise.withResolvers<SpeechWorkerAnswer>()
  return {
    answer: promise,
    onLine(line: SpeechWorkerLine): void {
      listener(line)
      if (line.kind === "done" || line.kind === "error") resolve(line)
    },
    onGone: (end: ToolProcessResult): void => resolve({ kind: "gone", end }),
    fail: reject,
  }
}

/**
 * Sends the task's order line and audio to the driver. Rejects if the audio cannot be read to its
 * end. Returns early if the process ends.
 */
async function send(
  order: SpeechTaskOrder,
  sound: Readable,
  { stdin, exited }: { stdin: Writable; exited: AbortSignal },
): Promise<void> {
  stdin.write(toLine(order))
  for await (const chunk of sound) {
    if (stdin.write(chunk)) continue
    const drained = await once(stdin, "drain", { signal: exited }).catch(() => null)
    if (drained === null) return
  }
}

function toLine(values: object): string {
  return `${JSON.stringify(values)}\n`
}
