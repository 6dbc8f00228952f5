import pWaitFor from "p-wait-for"
import { z } from "zod"
import { parseJson } from "../../scripts/local/parse-json.ts"

const POLL_MS = 5

const line = z.object({
  event: z.string(),
  at: z.iso.datetime(),
  job_id: z.string(),
  fence: z.number(),
  tool: z.string().optional(),
})

/** An event that the runner logged of a job. */
export type RunnerEvent = { event: string; atMs: number; fence: number }

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
      const { data } = line.safeParse(parseJson(text))
      if (!data) return
      const { event, job_id: jobId, fence, at } = data
      const known = logged.get(jobId) ?? []
      logged.set(jobId, [...known, { event, fence, atMs: Date.parse(at) }])
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
