import { setTimeout as sleep } from "node:timers/promises"
import { RunnerError } from "./runner-error.ts"

type Pace = { tries: number; firstWaitMs: number; longestWaitMs: number; signal: AbortSignal }

/** How transfers are tried: three times in all, within about a second. */
export function transferPace(signal: AbortSignal): Pace {
  return { tries: 3, firstWaitMs: 200, longestWaitMs: 1000, signal }
}

/**
 * Does work again until it succeeds, the tries are used up or it is aborted; waits twice as long
 * each time. A RunnerError is final: doing the same again cannot help.
 */
export async function retry<Value>(pace: Pace, work: () => Promise<Value>): Promise<Value> {
  let waitMs = pace.firstWaitMs
  for (let tried = 1; ; tried += 1) {
    pace.signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      pace.signal.throwIfAborted()
      if (error instanceof RunnerError || tried >= pace.tries) throw error
    }
    await sleep(waitMs, undefined, { signal: pace.signal })
    waitMs = Math.min(waitMs * 2, pace.longestWaitMs)
  }
}
