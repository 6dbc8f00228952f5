import { log } from "./log.ts"
import { setTimeout as sleep } from "node:timers/promises"

type Sweep = (stopping: AbortSignal) => Promise<unknown>

/**
 * Calls `sweep` at once and then each `everyMs`, one call at a time, until it is stopped, which aborts
 * the signal of the call that is under way.
 */
export function startSweepClock(sweep: Sweep, everyMs: number): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const ended = tick(sweep, everyMs, stopping.signal)
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

async function tick(sweep: Sweep, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await sweep(signal)
    } catch (error) {
      if (signal.aborted) return
      const message = "The sweep failed and is tried again at its next time."
      log("error", "sweep.failed", { message, error: String(error) })
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
