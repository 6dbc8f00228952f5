import { env } from "cloudflare:workers"
import { beforeEach, expect, it, vi } from "vitest"
import { z } from "zod"
import type { TaskOrder } from "../../../src/contract/task.ts"
import { draftFetchJob } from "../../../src/kinds/fetch/plan.ts"
import { fetchRequestSchema } from "../../../src/kinds/fetch/request.ts"
import { getDispatcher } from "../../../src/bindings/durable-objects.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { encryptDraftSecrets } from "../../../src/db/jobs/create-job.ts"
import { createJob } from "../../support/db/create-job.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeJobProperties } from "../../support/job-facts.ts"
import { startFakePlainRunner } from "../../support/runner/tiny-runner.ts"

const OTHER_SECRET = "the secret that this service had before"
const COOKIES = [".video.example.com", "TRUE", "/", "TRUE", "0", "session", "a-value"].join("\t")
const REQUEST = { url: "https://video.example.com/watch?v=1", cookies: COOKIES }

const orders: TaskOrder[] = []

beforeEach(() => {
  orders.length = 0
  startFakePlainRunner((order) => {
    orders.push(order)
    const message = "There is no such page."
    return Promise.resolve({ failure: { code: "not_found", message, lines: [] } })
  })
})

const shown = z.object({ status: z.string(), error_code: z.string().nullish() })

async function untilOver(caller: TestCaller, id: string): Promise<string | null> {
  return await vi.waitUntil(
    async () => {
      const record = shown.parse(await (await caller.call(`/fetch/${id}`)).json())
      return record.status === "failed" && record.error_code
    },
    { timeout: 20_000, interval: 50 },
  )
}

it("cookies reach the runner unchanged", async () => {
  const caller = await makeCaller(crypto.randomUUID())
  const answer = await caller.post("/fetch", REQUEST)
  const { fetch_id: id } = await answer.json<{ fetch_id: string }>()
  expect(await untilOver(caller, id)).toBe("not_found")
  expect(orders.map(({ secrets }) => secrets?.cookies)).toEqual([expect.stringContaining(COOKIES)])
})

it("a fetch with cookies encrypted under another secret fails before it reaches a runner", async () => {
  const caller = await makeCaller(crypto.randomUUID())
  const accountId = await findCallerAccountId(caller)
  const draft = draftFetchJob(fetchRequestSchema.parse(REQUEST), {
    ...makeJobProperties(null),
    inputs: [],
    runSecondsMax: 10,
    fileBytesMax: 1_000_000,
    speechModels: { default: "base", names: ["base"] },
  })
  await createJob(
    openAccountDatabases(env, accountId),
    await encryptDraftSecrets(OTHER_SECRET, draft),
  )
  const { id: jobId } = draft.job
  const tasks = draft.tasks.map(({ task, pool, blocked }) => {
    const { id, priority, createdAt } = task
    return { id, jobId, pool, blocked, priority, createdAt, weight: 1, jobWeight: 1 }
  })
  await getDispatcher(env, accountId).accept(accountId, tasks)
  expect(await untilOver(caller, jobId)).toBe("secrets_lost")
  expect(orders).toEqual([])
  const record = await (await caller.call(`/fetch/${jobId}`)).text()
  expect(record).toContain("Send the request again")
  expect(record).not.toContain("a-value")
})
