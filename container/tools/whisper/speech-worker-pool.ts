import { log } from "../../log.ts"
import type { RunnerSettings } from "../../settings.ts"
import { startSpeechWorker } from "./speech-worker.ts"
import type { SpeechWorker, SpeechWorkerSpec } from "./speech-worker.ts"

/**
 * Maximum age of a speech worker (a process that keeps a speech model in memory), in milliseconds.
 * An older worker gets no more tasks, so that the time limit of its process never interrupts a
 * task.
 */
const AGE_MS_MAX = 6 * 3_600_000

/** Exclusive use of a speech worker, a process with a loaded speech model, by one task. */
export type SpeechWorkerLease = {
  worker: SpeechWorker
  /**
   * Ends the use of the worker. With `isReusable`, the worker waits for its next task; otherwise
   * the worker is killed, because it may still be busy with the task.
   */
  release(isReusable: boolean): Promise<void>
}

/**
 * Speech workers of a runner, which are processes that keep a speech model in memory. An idle
 * worker waits for the next task of the same account and model.
 */
export type SpeechWorkerPool = {
  /** Returns a worker for one task: an idle worker of the same account and model, or a new one. */
  take(spec: SpeechWorkerSpec): Promise<SpeechWorkerLease>
  /** Kills all speech workers. */
  close(): Promise<void>
}

type Entry = SpeechWorkerSpec & {
  worker: SpeechWorker
  startedMs: number
  /**
   * Time at which the worker became idle, and the timer that ends the worker; null while the worker
   * has a task.
   */
  idle: { sinceMs: number; timer: NodeJS.Timeout } | null
}

const workersBySettings = new WeakMap<RunnerSettings["speech"], SpeechWorkerPool>()

/** Returns the pool of the runner's speech workers. The first call creates the pool. */
export function getSpeechWorkerPool(
  settings: Pick<RunnerSettings, "capacity" | "limits" | "speech">,
): SpeechWorkerPool {
  const cached = workersBySettings.get(settings.speech)
  if (cached) return cached
  const workers = openSpeechWorkers(settings)
  workersBySettings.set(settings.speech, workers)
  return workers
}

function openSpeechWorkers({
  capacity,
  limits,
  speech,
}: Pick<RunnerSettings, "capacity" | "limits" | "speech">): SpeechWorkerPool {
  const entries = new Set<Entry>()
  function idleEntries(): Entry[] {
    const idle = [...entries].filter((entry) => entry.idle !== null)
    return idle.toSorted((one, other) => (one.idle?.sinceMs ?? 0) - (other.idle?.sinceMs ?? 0))
  }
  function start(spec: SpeechWorkerSpec): Entry {
    const entry = {
      ...spec,
      worker: startSpeechWorker(spec),
      startedMs: performance.now(),
      idle: null,
    }
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
    // Does not reuse a worker if CPU time is limited, because the limit applies to all tasks of a
    // process together.
    const isExpired = limits.cpuSeconds !== null || performance.now() - entry.startedMs > AGE_MS_MAX
    if (isExpired) return await leave(entry)
    const timer = setTimeout(() => void leave(entry), speech.idleMs).unref()
    entry.idle = { sinceMs: performance.now(), timer }
  }
  return {
    async take(spec) {
      const idle = idleEntries()
      const warm = idle.findLast((entry) => isSame(entry, spec))
      if (warm) stopWaiting(warm)
      // Ends the worker that has been idle for the longest time if there are as many workers as the
      // runner may have tasks. An idle worker then exists, since at least the new task has no
      // worker.
      else if (entries.size >= capacity && idle[0]) await leave(idle[0])
      const entry = warm ?? start(spec)
      return { worker: entry.worker, release: (isReusable) => release(entry, isReusable) }
    },
    async close() {
      await Promise.all([...entries].map(({ worker }) => worker.kill()))
    },
  }
}

function isSame(entry: Entry, { sandbox, modelFolder, accountId }: SpeechWorkerSpec): boolean {
  const isOfAccount = entry.accountId === accountId
  return isOfAccount && entry.sandbox === sandbox && entry.modelFolder === modelFolder
}

function stopWaiting(entry: Entry): void {
  clearTimeout(entry.idle?.timer)
  entry.idle = null
}
