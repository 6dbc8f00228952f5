import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"

const POLL_MS = 5

const line = z.object({
  event: z.string(),
  at: z.iso.datetime(),
  job_id: z.string(),
  fence: z.number(),
  tool: z.string().optional(),
})

/** What the runner said of a job. */
export type Said = { event: string; atMs: number; fence: number }

/** The log of a service's runner, job by job. */
export type Events = {
  read(text: string): void
  of(jobId: string): Said[]
  /** The first event of a job that fits, which may be past; throws where none comes in time. */
  when(jobId: string, fits: (said: Said) => boolean, timeoutMs: number): Promise<Said>
}

export function openEvents(): Events {
  const said = new Map<string, Said[]>()
  const events: Events = {
    read(text) {
      const { data } = line.safeParse(parseJson(text))
      if (!data) return
      const { event, job_id: jobId, fence, at } = data
      const known = said.get(jobId) ?? []
      said.set(jobId, [...known, { event, fence, atMs: Date.parse(at) }])
    },
    of: (jobId) => said.get(jobId) ?? [],
    async when(jobId, fits, timeoutMs) {
      const until = Date.now() + timeoutMs
      while (Date.now() < until) {
        const found = events.of(jobId).find(fits)
        if (found) return found
        await sleep(POLL_MS)
      }
      throw new Error(`the runner did not say in time what was awaited of job ${jobId}`)
    },
  }
  return events
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
