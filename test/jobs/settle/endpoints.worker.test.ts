import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import { findDelivery } from "../../../src/db/deliveries.ts"
import { deleteWebhookEndpoint, updateWebhookEndpoint } from "../../../src/db/webhook-endpoints.ts"
import type { NewEndpointFieldValues } from "../../../src/db/webhook-endpoints.ts"
import { createJob } from "../../support/db/create-job.ts"
import { draftJobRow } from "../../../src/domain/job-draft.ts"
import { decompressText } from "../../../src/db/values/compressed-text.ts"
import { computeEndTransition } from "../../../src/jobs/settle/transitions.ts"
import { endOpenJob, transitionJob } from "../../../src/jobs/settle/settle.ts"
import { newId } from "../../../src/platform/ids.ts"
import { createEndpoint } from "../../../src/webhooks/endpoints.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeJobProperties } from "../../support/job-facts.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeIncompressibleText } from "../../support/media/noise.ts"

const HOOK = "https://receiver.example/own"
const FAILURE = { code: "command_failed" as const, message: "It failed.", lines: [] }
const RACES = 12

type Stored = { url: string; endpoint_id: string; type: string; body: unknown; key: string | null }

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`ends ${newId()}`)
  accountId = await findCallerAccountId(caller)
})

async function endpoint(name: string, events = ["*"], enabled = true): Promise<string> {
  const url = `https://receiver.example/${name}`
  const given = { url, events, description: "", enabled }
  const made = await createEndpoint(openAccountDatabases(env, accountId), given)
  if (!made) throw new Error("there is no room for an endpoint")
  return made.id
}

async function command(more: object = {}): Promise<string> {
  const answer = await caller.post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc2 -t 1 {{out_1}}",
    output_files: { out_1: "a.mp4" },
    ...more,
  })
  if (answer.status !== 202) throw new Error(await answer.text())
  return (await answer.json<{ command_id: string }>()).command_id
}

async function deliveriesOf(jobId: string): Promise<Stored[]> {
  const rows = env.DB.prepare(
    "select url, endpoint_id, type, body, body_object_key as key from deliveries where job_id = ? order by url",
  )
  return (await rows.bind(jobId).all<Stored>()).results
}

async function end(jobId: string, state: "failed" | "canceled" = "failed"): Promise<void> {
  await endOpenJob(env, { accountId, jobId }, { state, failure: FAILURE })
}

/** Ends a job by a transition that was computed from an older read of it. */
async function endFrom(jobId: string, change: () => Promise<unknown>): Promise<void> {
  const claimed = await readJobSnapshot(openAccountDatabases(env, accountId), jobId)
  await change()
  const { applied } = await transitionJob(
    env,
    { accountId, jobId },
    (read) => computeEndTransition(read, { state: "failed", failure: FAILURE, now: Date.now() }),
    { claimed },
  )
  expect(applied).toBe(true)
}

describe("the end of a job", () => {
  it("is told to each endpoint that names the event, beside the webhook of the request", async () => {
    const all = await endpoint("all")
    const failed = await endpoint("failed", ["fetch.*", "*.failed"])
    await endpoint("others", ["fetch.*", "command.succeeded"])
    await endpoint("disabled", ["*"], false)
    const jobId = await command({ webhook: HOOK })
    await end(jobId)
    const stored = await deliveriesOf(jobId)
    expect(stored.map(({ url, endpoint_id, type }) => [url, endpoint_id, type])).toEqual([
      ["https://receiver.example/all", all, "command.failed"],
      ["https://receiver.example/failed", failed, "command.failed"],
      [HOOK, "", "command.failed"],
    ])
    const bodies = new Set(stored.map(({ body }) => decompressText(body)))
    expect(bodies.size).toBe(1)
    expect(JSON.parse([...bodies][0] ?? "")).toMatchObject({
      type: "command.failed",
      data: { id: jobId, status: "failed", error_code: "command_failed" },
    })
    await end(jobId, "canceled")
    expect(await deliveriesOf(jobId)).toHaveLength(3)
  })

  it("is told to endpoints by the record of its kind, whatever form the request's webhook has", async () => {
    await endpoint("all", ["fetch.canceled"])
    const request = { url: "https://site.example/watch", webhook_url: HOOK }
    const answer = await caller.post("/fetch", request)
    const { fetch_id: jobId } = await answer.json<{ fetch_id: string }>()
    await end(jobId, "canceled")
    const [native, own] = (await deliveriesOf(jobId)).map(({ body }) => {
      return z.object({ data: z.unknown() }).parse(JSON.parse(decompressText(body)))
    })
    expect(native?.data).toMatchObject({ status: "failed", url: request.url })
    expect(own?.data).toMatchObject({ status: "failed", kind: "fetch", outputs: [] })
  })

  it("is told to endpoints of its own account alone", async () => {
    await endpoint("theirs")
    caller = await makeCaller(`another ${newId()}`)
    accountId = await findCallerAccountId(caller)
    const jobId = await command()
    await end(jobId)
    expect(await deliveriesOf(jobId)).toEqual([])
  })

  it("is told to no endpoint if the job is internal", async () => {
    await endpoint("all")
    const id = newId()
    const job = draftJobRow(makeJobProperties(null), {
      id,
      kind: "metadata",
      request: { url: "https://a.example" },
    })
    await createJob(openAccountDatabases(env, accountId), { job, tasks: [], files: [] })
    await end(id)
    expect(await deliveriesOf(id)).toEqual([])
  })

  it("has an object for each body that is too large for a row, and each can be read", async () => {
    await endpoint("1")
    await endpoint("2")
    const line = `ffmpeg -f lavfi -i testsrc2 -t 1 -metadata a=${makeIncompressibleText(50_000)} {{out_1}}`
    const jobId = await command({ ffmpeg_command: line, webhook: HOOK })
    await end(jobId)
    const keys = (await deliveriesOf(jobId)).map(({ key }) => key)
    expect(new Set(keys).size).toBe(3)
    for (const key of keys) expect(await env.MEDIA.head(key ?? "")).not.toBeNull()
  })

  it("is read with its deliveries by their job", async () => {
    const id = await endpoint("all")
    const jobId = await command({ webhook: HOOK })
    await end(jobId)
    const answer = await caller.call(`/webhooks/deliveries?job_id=${jobId}`)
    const listed = await answer.json<{ id: string; endpoint_id: string | null }[]>()
    expect(listed.map(({ endpoint_id }) => endpoint_id)).toEqual(expect.arrayContaining([id, null]))
    for (const each of listed) {
      expect(await findDelivery(openAccountDatabases(env, accountId), each.id)).not.toBeNull()
    }
  })
})

type Change = [string, (() => Promise<string>) | NewEndpointFieldValues | "delete" | null, string[]]

describe("a change of endpoints between a claim and the end of a job", () => {
  it.each([
    ["a new one gets the event", async () => await endpoint("new"), ["kept", "new"]],
    ["a disabled one gets none", null, []],
    ["a deleted one gets none", "delete", []],
    ["another URL gets it", { url: "https://receiver.example/moved" }, ["moved"]],
    ["other events count", { events: ["fetch.*"] }, []],
  ] satisfies Change[])("counts: %s", async (_, change, told) => {
    const id = await endpoint("kept")
    const jobId = await command()
    const database = openAccountDatabases(env, accountId)
    await endFrom(jobId, async () => {
      if (typeof change === "function") await change()
      else if (change === "delete") await deleteWebhookEndpoint(database, id)
      else if (change === null) await updateWebhookEndpoint(database, id, { enabled: false })
      else await updateWebhookEndpoint(database, id, change)
    })
    const names = (await deliveriesOf(jobId)).map(({ url }) => url.split("/").at(-1))
    expect(names).toEqual(told)
  })

  it("never tells an event twice or not at all, over random interleavings", async () => {
    const ids = [await endpoint("0"), await endpoint("1"), await endpoint("2")]
    const database = openAccountDatabases(env, accountId)
    for (let race = 0; race < RACES; race += 1) {
      const jobId = await command()
      const toggled = ids[race % 3] ?? ""
      const steps = [
        async () => await end(jobId),
        async () => await updateWebhookEndpoint(database, toggled, { enabled: race % 2 === 0 }),
        async () => await end(jobId, "canceled"),
      ]
      await Promise.all(steps.map(async (step) => await step()))
      const told = (await deliveriesOf(jobId)).map(({ endpoint_id }) => endpoint_id)
      expect(new Set(told).size).toBe(told.length)
      expect(told).toEqual(expect.arrayContaining(ids.filter((id) => id !== toggled)))
      await updateWebhookEndpoint(database, toggled, { enabled: true })
    }
  })
})
