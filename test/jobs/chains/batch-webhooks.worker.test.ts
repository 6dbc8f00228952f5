import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { newId } from "../../../src/platform/ids.ts"
import { beginAccountDeletion } from "../../../src/accounts/deletion.ts"
import { openAccountDatabases, openDirectory } from "../../../src/db/database.ts"
import { decompressText } from "../../../src/db/values/compressed-text.ts"
import { purgeDeletedAccounts } from "../../../src/upkeep/purge.ts"
import { attemptDelivery } from "../../../src/webhooks/deliver.ts"
import { createEndpoint } from "../../../src/webhooks/endpoints.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { createBatchOfCopies, endCopy, failCopy } from "../../support/chains.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"

const HOOK = "https://receiver.example/own"

const event = z.object({
  type: z.string(),
  data: z.looseObject({ id: z.string(), jobs: z.record(z.string(), z.unknown()) }),
})

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`batch webhooks ${newId()}`)
  accountId = await findCallerAccountId(caller)
})

async function subscribe(...events: string[]): Promise<void> {
  const url = `https://receiver.example/${events.join("+")}`
  const given = { url, events, description: "", enabled: true }
  const made = await createEndpoint(openAccountDatabases(env, accountId), given)
  if (!made) throw new Error("there is no room for an endpoint")
}

type Stored = { id: string; url: string; type: string; body: unknown }

async function deliveriesOf(jobId: string): Promise<Stored[]> {
  const rows = env.DB.prepare(
    "select id, url, type, body from deliveries where job_id = ? order by url",
  )
  return (await rows.bind(jobId).all<Stored>()).results
}

function receiversOf(stored: readonly Stored[]): string[] {
  return stored.map(({ url, type }) => `${url.split("/").at(-1)} ${type}`)
}

/** Ends a batch of two jobs, of which the second fails if `fails`. */
async function endBatch(fails: boolean): Promise<string> {
  const { id, jobs } = await createBatchOfCopies(
    caller,
    { first: [], second: ["first"] },
    { webhook: HOOK },
  )
  await endCopy(accountId, jobs["first"] ?? "")
  await (fails ? failCopy : endCopy)(accountId, jobs["second"] ?? "")
  return id
}

describe("the end of a batch", () => {
  beforeEach(async () => {
    await subscribe("*")
    await subscribe("batch.*")
    await subscribe("batch.failed")
    await subscribe("*.failed")
    await subscribe("command.*", "*.canceled")
  })

  it("is told to the endpoints that name its event, and to the webhook of the request", async () => {
    expect(receiversOf(await deliveriesOf(await endBatch(true)))).toEqual([
      "* batch.failed",
      "*.failed batch.failed",
      "batch.* batch.failed",
      "batch.failed batch.failed",
      "own batch.failed",
    ])
    expect(receiversOf(await deliveriesOf(await endBatch(false)))).toEqual([
      "* batch.succeeded",
      "batch.* batch.succeeded",
      "own batch.succeeded",
    ])
  })
})

/** Returns the events that the deliveries of a batch send, after one try of each. */
async function sendAll(batchId: string) {
  for (const { id } of await deliveriesOf(batchId)) await attemptDelivery(env, accountId, id)
  return (await deliveriesOf(batchId)).map(({ body }) => {
    return event.parse(JSON.parse(decompressText(body)))
  })
}

const REMOVALS: Record<string, (batchId: string) => Promise<void>> = {
  "DELETE of the batch": removeBatch,
  "deletion of the account": async () => {
    await beginAccountDeletion(env, accountId)
    await purgeDeletedAccounts(env, openDirectory(env), Date.now())
  },
}

async function removeBatch(batchId: string): Promise<void> {
  expect((await caller.call(`/batches/${batchId}`, { method: "DELETE" })).status).toBe(200)
}

describe("the webhook of a batch tells all its jobs", () => {
  it.each(Object.entries(REMOVALS))(
    "although a %s comes before its first try",
    async (_, remove) => {
      const id = await endBatch(true)
      await remove(id)
      const [sent] = await sendAll(id)
      expect(sent).toMatchObject({ type: "batch.failed", data: { id, failed_jobs: 1 } })
      expect(Object.keys(sent?.data.jobs ?? {})).toEqual(["first", "second"])
    },
  )

  it("if the batch is deleted while its jobs run", async () => {
    const { id } = await createBatchOfCopies(
      caller,
      { first: [], second: ["first"] },
      { webhook: HOOK },
    )
    await removeBatch(id)
    const [sent] = await sendAll(id)
    expect(sent).toMatchObject({ type: "batch.failed", data: { id, failed_jobs: 2 } })
    expect(Object.keys(sent?.data.jobs ?? {})).toEqual(["first", "second"])
  })
})
