import { log } from "../../log.ts"
import type { RunnerSettings } from "../../settings.ts"
import { startWorker } from "./worker.ts"
import type { Worker, WorkerSpec } from "./worker.ts"

/** A worker of this age makes way for a new one, so that no limit of a process ends its work. */
const AGE_MS_MAX = 6 * 3_600_000

/** A worker that a task has for itself. */
export type WorkerLease = {
  worker: Worker
  /** Gives it back for the next task; false ends it, as where it is not known what it does. */
  release(isReusable: boolean): Promise<void>
}

/** The workers of a runner: warm ones wait for the next task of their account and model. */
export type SpeechWorkers = {
  /** Takes a worker of a model for one task; starts one where none is free. */
  take(spec: WorkerSpec): Promise<WorkerLease>
  /** Ends all of them. */
  close(): Promise<void>
}

type Entry = WorkerSpec & {
  worker: Worker
  startedMs: number
  /** Where it waits for a task: since when, and what ends it after a while. */
  idle: { sinceMs: number; timer: NodeJS.Timeout } | null
}

const workersBySettings = new WeakMap<RunnerSettings["speech"], SpeechWorkers>()

/** The workers of the runner that has these settings; the first use starts the first. */
export function speechWorkersOf(
  settings: Pick<RunnerSettings, "capacity" | "limits" | "speech">,
): SpeechWorkers {
  const known = workersBySettings.get(settings.speech)
  if (known) return known
  const workers = openSpeechWorkers(settings)
  workersBySettings.set(settings.speech, workers)
  return workers
}

function openSpeechWorkers({
  capacity,
  limits,
  speech,
}: Pick<RunnerSettings, "capacity" | "limits" | "speech">): SpeechWorkers {
  const entries = new Set<Entry>()
  function idleOnes(): Entry[] {
    const idle = [...entries].filter((entry) => entry.idle !== null)
    return idle.toSorted((one, other) => (one.idle?.sinceMs ?? 0) - (other.idle?.sinceMs ?? 0))
  }
  function start(spec: WorkerSpec): Entry {
    const entry = { ...spec, worker: startWorker(spec), startedMs: performance.now(), idle: null }
    entries.add(entry)
    log("info", "speech.worker_started", { pid: entry.worker.pid })
    void entry.worker.ended.then(({ exitCode, signal, cause }) => {
      stopWaiting(entry)
      entries.delete(entry)
      log("info", "speech.worker_ended", {
        pid: entry.worker.pid,
        exit_code: exitCode,
        signal,
        cause,
      })
    })
    return entry
  }
  async function leave(entry: Entry): Promise<void> {
    stopWaiting(entry)
    await entry.worker.leave()
  }
  async function release(entry: Entry, isReusable: boolean): Promise<void> {
    if (!isReusable) return await entry.worker.kill()
    // A limit of processor time counts all tasks of a process.
    const isWorn = limits.cpuSeconds !== null || performance.now() - entry.startedMs > AGE_MS_MAX
    if (isWorn) return await leave(entry)
    const timer = setTimeout(() => void leave(entry), speech.idleMs).unref()
    entry.idle = { sinceMs: performance.now(), timer }
  }
  return {
    async take(spec) {
      const idle = idleOnes()
      const warm = idle.findLast((entry) => isSame(entry, spec))
      if (warm) stopWaiting(warm)
      // No more tasks run at once than there may be workers, so another one is idle.
      else if (entries.size >= capacity && idle[0]) await leave(idle[0])
      const entry = warm ?? start(spec)
      return { worker: entry.worker, release: (isReusable) => release(entry, isReusable) }
    },
    async close() {
      await Promise.all([...entries].map(({ worker }) => worker.kill()))
    },
  }
}

function isSame(entry: Entry, { sandbox, modelFolder, accountId }: WorkerSpec): boolean {
  const isOfAccount = entry.accountId === accountId
  return isOfAccount && entry.sandbox === sandbox && entry.modelFolder === modelFolder
}

function stopWaiting(entry: Entry): void {
  clearTimeout(entry.idle?.timer)
  entry.idle = null
}
