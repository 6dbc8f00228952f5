import { env } from "cloudflare:workers"
import { beforeEach, expect, it, vi } from "vitest"
import { z } from "zod"
import type { TaskOrder } from "../../../src/contract/task.ts"
import { planFetch } from "../../../src/kinds/fetch/plan.ts"
import { fetchRequest } from "../../../src/kinds/fetch/request.ts"
import { dispatcherOf } from "../../../src/placement.ts"
import { databaseOf } from "../../../src/storage/database.ts"
import { createJob, sealDraft } from "../../../src/storage/job-drafts.ts"
import { accountOf } from "../../support/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { Caller } from "../../support/caller.ts"
import { jobFacts } from "../../support/job-facts.ts"
import { startTinyRunner } from "../../support/tiny-runner.ts"

const OTHER_SECRET = "the secret that this service had before"
const COOKIES = [".video.example.com", "TRUE", "/", "TRUE", "0", "session", "a-value"].join("\t")
const REQUEST = { url: "https://video.example.com/watch?v=1", cookies: COOKIES }

const orders: TaskOrder[] = []

beforeEach(() => {
  orders.length = 0
  startTinyRunner((order) => {
    orders.push(order)
    const message = "There is no such page."
    return Promise.resolve({ failure: { code: "not_found", message, lines: [] } })
  })
})

const shown = z.object({ status: z.string(), error_code: z.string().nullish() })

async function untilOver(caller: Caller, id: string): Promise<string | null> {
  return await vi.waitUntil(
    async () => {
      const record = shown.parse(await (await caller.call(`/fetch/${id}`)).json())
      return record.status === "failed" && record.error_code
    },
    { timeout: 20_000, interval: 50 },
  )
}

it("cookies come to the runner as they were sent", async () => {
  const caller = await makeCaller(crypto.randomUUID())
  const answer = await caller.post("/fetch", REQUEST)
  const { fetch_id: id } = await answer.json<{ fetch_id: string }>()
  expect(await untilOver(caller, id)).toBe("not_found")
  expect(orders.map(({ secrets }) => secrets?.cookies)).toEqual([expect.stringContaining(COOKIES)])
})

it("a fetch whose cookies were encrypted under another secret fails before any runner has it", async () => {
  const caller = await makeCaller(crypto.randomUUID())
  const accountId = await accountOf(caller)
  const draft = planFetch(fetchRequest.parse(REQUEST), {
    ...jobFacts(null),
    inputs: [],
    runSecondsMax: 10,
    fileBytesMax: 1_000_000,
    speechModels: { default: "base", names: ["base"] },
  })
  await createJob(databaseOf(env, accountId), await sealDraft(OTHER_SECRET, draft))
  const { id: jobId } = draft.job
  const tasks = draft.tasks.map(({ task, pool, blocked }) => {
    const { id, priority, createdAt } = task
    return { id, jobId, pool, blocked, priority, createdAt, weight: 1, jobWeight: 1 }
  })
  await dispatcherOf(env, accountId).accept(accountId, tasks)
  expect(await untilOver(caller, jobId)).toBe("secrets_lost")
  expect(orders).toEqual([])
  const record = await (await caller.call(`/fetch/${jobId}`)).text()
  expect(record).toContain("send the request again")
  expect(record).not.toContain("a-value")
})
