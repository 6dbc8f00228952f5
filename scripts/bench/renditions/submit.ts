import pWaitFor from "p-wait-for"
import { z } from "zod"
import { jsonBody } from "../caller.ts"
import type { BenchService } from "../service.ts"
import type { Rendition } from "../../../src/contract/tasks/render.ts"

const POLL_MS = 5
const FINAL_MS_MAX = 90_000

const created = z.object({ id: z.uuid() })
const job = z.looseObject({
  status: z.string(),
  error: z.object({ message: z.string() }).optional(),
})

/** When parts of a job began and ended, in milliseconds: the whole, and the runner's. */
export type Times = { wholeMs: number; runnerMs: number }

/** Has the service make renditions of a file, and says how long that took. */
export async function submitRenditions(
  service: BenchService,
  fileId: string,
  {
    renditions,
    measuresQuality = false,
  }: { renditions: readonly Rendition[]; measuresQuality?: boolean },
): Promise<Times> {
  const { caller, whenLogged } = service
  const startedMs = performance.now()
  const body = {
    source: `svc_id://${fileId}`,
    outputs: renditions.map(({ key: _key, ...rendition }) => rendition),
    quality_metrics: measuresQuality,
  }
  const { text } = await caller.ask("POST", "/v1/transcode", jsonBody(body))
  const { id } = created.parse(JSON.parse(text))
  // Polling meanwhile would take processor time from what is measured.
  const endedAt = await whenLogged("task.ended", id)
  await pWaitFor(
    async () => {
      const found = job.parse(JSON.parse((await caller.ask("GET", `/v1/jobs/${id}`)).text))
      if (found.status === "failed") throw new Error(`${id} failed: ${found.error?.message}`)
      return found.status === "completed"
    },
    { interval: POLL_MS, timeout: { milliseconds: FINAL_MS_MAX, message: `${id} is not over` } },
  )
  const wholeMs = performance.now() - startedMs
  return { wholeMs, runnerMs: endedAt - (await whenLogged("task.accepted", id)) }
}
