import pWaitFor from "p-wait-for"
import { parseRunnerLogEvent } from "../../scripts/start/runner-line.ts"
import type { RunnerLogEvent } from "../../scripts/start/runner-line.ts"

const POLL_MS = 5

/** An event that the runner logged of a job. */
export type RunnerEvent = Pick<RunnerLogEvent, "event" | "atMs" | "fence">

/** The log of a service's runner, job by job. */
export type Events = {
  read(text: string): void
  of(jobId: string): RunnerEvent[]
  /** The first event of a job that fits, which may be past; throws where none comes in time. */
  when(
    jobId: string,
    fits: (event: RunnerEvent) => boolean,
    timeoutMs: number,
  ): Promise<RunnerEvent>
}

export function openEvents(): Events {
  const logged = new Map<string, RunnerEvent[]>()
  const events: Events = {
    read(text) {
      const said = parseRunnerLogEvent(text)
      if (said) logged.set(said.jobId, [...events.of(said.jobId), said])
    },
    of: (jobId) => logged.get(jobId) ?? [],
    async when(jobId, fits, timeoutMs) {
      const message = `the runner did not log in time what was awaited of job ${jobId}`
      return await pWaitFor<RunnerEvent>(
        () => {
          const found = events.of(jobId).find(fits)
          return found !== undefined && pWaitFor.resolveWith(found)
        },
        { interval: POLL_MS, timeout: { milliseconds: timeoutMs, message } },
      )
    },
  }
  return events
}
