import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { availableParallelism } from "node:os"
import type { ProcessEnd } from "../../sandbox/process.ts"
import type { Sandbox } from "../../sandbox/sandbox.ts"
import { startProcess } from "../../sandbox/start.ts"
import { closeTaskSandbox, openTaskSandbox } from "../../sandbox/task-sandbox.ts"
import { modelPaths, whisperArgv } from "./environment.ts"
import type { WhisperEnvironment } from "./environment.ts"
import { readWorkerLine } from "./worker-lines.ts"
import type { WorkerError, WorkerLine } from "./worker-lines.ts"

/** Longest life of a process, which ends on its own long before that. */
const LIFE_MS_MAX = 7 * 24 * 3_600_000
const LEAVE_MS_MAX = 1000

/** Address space beside the limit of all tools: threads of the engine reserve it and do not use it. */
const EXTRA_MEMORY_BYTES = 4 * 1024 ** 3

/** What a worker is started with. */
export type WorkerSpec = {
  sandbox: Sandbox
  whisper: WhisperEnvironment
  modelFolder: string
  /** Whose tasks it does; null where tasks do not say it. */
  accountId: string | null
}

/** What the driver is asked of a sound. */
export type SoundOrder = {
  samples: number
  language: string | null
  task: string
  prompt: string | null
}

/** How a task in a worker ended: the driver's last line, or its process was gone. */
export type WorkerAnswer =
  | Extract<WorkerLine, { kind: "done" }>
  | WorkerError
  | { kind: "gone"; end: ProcessEnd }

/** A process that has a model in its memory, and does one task after the other. */
export type Worker = {
  pid: number | null
  /** Hands it a sound; nothing else may until that is answered. A sound that fails ends the process. */
  hear(
    order: SoundOrder,
    sound: Readable,
    onLine: (line: WorkerLine) => void,
  ): Promise<WorkerAnswer>
  /** Ends it at once; resolves when it is gone. */
  kill(): Promise<void>
  /** Has an idle one leave; resolves when it is gone. */
  leave(): Promise<void>
  /** Resolves when it is gone, however it ended. */
  ended: Promise<ProcessEnd>
}

/** What the sandbox of a worker grants: it writes nothing, and reads its packages and its model. */
export function workerLaunch({ sandbox, whisper, modelFolder }: Omit<WorkerSpec, "accountId">) {
  return {
    tool: whisper.python,
    cwd: "/",
    access: "none",
    read: [...whisper.read, ...modelPaths(modelFolder)],
    memoryBytes: sandbox.limits.memoryBytes + EXTRA_MEMORY_BYTES,
  } as const
}

/** Starts a worker, in a sandbox of its own. */
export function startWorker(spec: WorkerSpec): Worker {
  const taskSandbox = openTaskSandbox(spec.sandbox)
  const ending = new AbortController()
  const gone = new AbortController()
  let task: RunningTask | null = null
  const started = startProcess({
    ...workerLaunch(spec),
    argv: whisperArgv("main.py"),
    stdin: { open: true },
    taskSandbox,
    timeLimitMs: LIFE_MS_MAX,
    signal: ending.signal,
    onProgressLine: (text) => {
      const line = readWorkerLine(text)
      if (line) task?.onLine(line)
    },
  })
  const { stdin } = started
  const setup = { packages: spec.whisper.packages, model: spec.modelFolder }
  stdin?.write(toLine({ ...setup, threads: availableParallelism() }))
  async function end(): Promise<ProcessEnd> {
    const processEnd = await started.finished
    gone.abort()
    await closeTaskSandbox(taskSandbox, null)
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
    async hear(order, sound, listener) {
      if (gone.signal.aborted) return { kind: "gone", end: await ended }
      task = openTask(listener)
      // The end of a process says more than the error of a pipe to it.
      if (stdin?.writable === true) {
        send(order, sound, { stdin, gone: gone.signal }).catch(task.fail)
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

/** A task that a worker does: what it hears of its process, and the answer that comes of it. */
function openTask(listener: (line: WorkerLine) => void) {
  const { promise, resolve, reject } = Promise.withResolvers<WorkerAnswer>()
  return {
    answer: promise,
    onLine(line: WorkerLine): void {
      listener(line)
      if (line.kind === "done" || line.kind === "error") resolve(line)
    },
    onGone: (end: ProcessEnd): void => resolve({ kind: "gone", end }),
    fail: reject,
  }
}

/** Rejects where the sound cannot be read to its end; stops where the process is gone. */
async function send(
  order: SoundOrder,
  sound: Readable,
  { stdin, gone }: { stdin: Writable; gone: AbortSignal },
): Promise<void> {
  stdin.write(toLine(order))
  for await (const chunk of sound) {
    if (stdin.write(chunk)) continue
    const drained = await once(stdin, "drain", { signal: gone }).catch(() => null)
    if (drained === null) return
  }
}

function toLine(values: object): string {
  return `${JSON.stringify(values)}\n`
}
