import { log } from "./log.ts"
import { setTimeout as sleep } from "node:timers/promises"

/** Calls `sweep` at once and then each `everyMs`, one call at a time, until it is stopped. */
export function startSweepClock(
  sweep: () => Promise<unknown>,
  everyMs: number,
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const ended = tick(sweep, everyMs, stopping.signal)
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

async function tick(
  sweep: () => Promise<unknown>,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await sweep()
    } catch (error) {
      const message = "The sweep failed and is tried again at its next time."
      log("error", "sweep.failed", { message, error: String(error) })
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
