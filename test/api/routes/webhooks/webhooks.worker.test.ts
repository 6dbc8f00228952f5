import { env } from "cloudflare:workers"
import { Webhook } from "standardwebhooks"
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { newId } from "../../../../src/platform/ids.ts"
import { attemptDelivery } from "../../../../src/webhooks/deliver.ts"
import { openAccountDatabases } from "../../../../src/db/database.ts"
import { insertDelivery } from "../../../../src/db/deliveries.ts"
import type { Delivery } from "../../../../src/db/schema/deliveries.ts"
import { makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"

type Try = { number: number; status: number | null; error?: string; answer: string | null }
type Logged = {
  id: string
  type: string
  status: string
  tries: Try[]
  next_try_at: string | null
  completed_at: string | null
}

let caller: TestCaller
let accountId: string

beforeAll(async () => {
  caller = await makeCaller("webhooks")
  const row = env.DB.prepare("select id from accounts where name = 'webhooks'")
  accountId = String(await row.first("id"))
})

afterEach(() => vi.restoreAllMocks())

/** Stands in for every receiver; returns the list of received requests. */
function receive(answer: (request: Request) => Response | Promise<Response>) {
  const requests: { request: Request; body: string }[] = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const request = new Request(input)
    requests.push({ request, body: await request.clone().text() })
    return await answer(request)
  })
  return requests
}

async function makeDelivery(
  changes: Partial<Omit<Delivery, "accountId">> = {},
  owner = accountId,
): Promise<string> {
  const made = {
    id: newId(),
    jobId: null,
    type: "command.succeeded",
    url: "https://receiver.example/hook",
    body: '{"type":"command.succeeded"}',
    state: "waiting" as const,
    nextTryAt: Date.now(),
    createdAt: Date.now(),
    ...changes,
  }
  await insertDelivery(openAccountDatabases(env, owner), made)
  return made.id
}

async function read(id: string): Promise<Logged> {
  return await (await caller.call(`/webhooks/deliveries/${id}`)).json<Logged>()
}

describe("a delivery", () => {
  it("is one POST with the headers of Standard Webhooks, even if several try concurrently", async () => {
    const requests = receive(() => new Response("thanks"))
    const id = await makeDelivery()
    await Promise.all([
      attemptDelivery(env, accountId, id),
      attemptDelivery(env, accountId, id),
      attemptDelivery(env, accountId, id),
    ])
    await attemptDelivery(env, accountId, id)
    expect(requests).toHaveLength(1)
    const [{ request, body } = { request: new Request("https://none.example"), body: "" }] =
      requests
    expect(body).toBe('{"type":"command.succeeded"}')
    const headers = Object.fromEntries(request.headers)
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "lathe-webhooks/1",
      "webhook-id": id,
    })
    const { secret } = await (await caller.call("/webhooks/secret")).json<{ secret: string }>()
    expect(new Webhook(secret).verify(body, headers)).toEqual({ type: "command.succeeded" })
    const logged = await read(id)
    expect(logged).toMatchObject({ status: "delivered", next_try_at: null })
    expect(logged.tries).toMatchObject([{ number: 1, status: 200, answer: "thanks" }])
    expect(logged.tries[0]).not.toHaveProperty("error")
  })

  it("waits for its next try after a failure, and keeps 1 KB of the answer", async () => {
    receive(() => new Response("ü".repeat(2000), { status: 500 }))
    const id = await makeDelivery()
    const before = Date.now()
    await attemptDelivery(env, accountId, id)
    const logged = await read(id)
    expect(logged).toMatchObject({ status: "waiting", completed_at: null })
    expect(logged.tries).toMatchObject([{ status: 500, error: "the receiver answered 500" }])
    expect(logged.tries[0]?.answer).toBe("ü".repeat(512))
    const waitMs = Date.parse(logged.next_try_at ?? "") - before
    expect(waitMs).toBeGreaterThanOrEqual(5000)
    expect(waitMs).toBeLessThan(20_000)
    await attemptDelivery(env, accountId, id)
    expect((await read(id)).tries).toHaveLength(1)
  })

  it("fails for good after its eighth try", async () => {
    receive(() => Response.error())
    const id = await makeDelivery({ tries: 7 })
    await attemptDelivery(env, accountId, id)
    expect(await read(id)).toMatchObject({ status: "failed", next_try_at: null })
  })

  it("stops reading an endless answer, and counts by its status", async () => {
    let sentBytes = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sentBytes += 8192
        controller.enqueue(new Uint8Array(8192).fill(120))
      },
    })
    receive(() => new Response(endless))
    const id = await makeDelivery()
    await attemptDelivery(env, accountId, id)
    expect((await read(id)).status).toBe("delivered")
    expect(sentBytes).toBeLessThan(128 * 1024)
  })

  it("never reaches a private host, even if its URL was accepted before", async () => {
    const requests = receive(() => new Response())
    const id = await makeDelivery({ url: "http://127.0.0.1/hook" })
    await attemptDelivery(env, accountId, id)
    expect(requests).toHaveLength(0)
    const { status, tries } = await read(id)
    expect(status).toBe("waiting")
    expect(tries).toMatchObject([{ status: null, answer: null }])
    expect(tries[0]?.error).toContain("expected a public host")
  })

  it("leaves room for other hosts while four of its host are open", async () => {
    const slow = Promise.withResolvers<void>()
    const requests = receive(async ({ url }) => {
      if (url.includes("slow")) await slow.promise
      return new Response()
    })
    const url = "https://slow.example/hook"
    const ids = await Promise.all([1, 2, 3, 4, 5].map(() => makeDelivery({ url })))
    const under = ids.slice(0, 4).map((id) => attemptDelivery(env, accountId, id))
    await expect.poll(() => requests.length).toBe(4)
    await attemptDelivery(env, accountId, ids[4] ?? "")
    const other = await makeDelivery()
    await attemptDelivery(env, accountId, other)
    expect(requests).toHaveLength(5)
    expect(await read(other)).toMatchObject({ status: "delivered" })
    expect(await read(ids[4] ?? "")).toMatchObject({ status: "waiting", tries: [] })
    slow.resolve()
    await Promise.all(under)
    // Otherwise the receiver of a later test gets the postponed delivery.
    await expect.poll(async () => (await read(ids[4] ?? "")).status).toBe("delivered")
  })
})

describe("the routes of webhooks", () => {
  it("log a test event, which is sent like any other", async () => {
    const requests = receive(() => new Response("ok"))
    const answer = await caller.post("/webhooks/test", { url: "https://receiver.example/test" })
    expect(answer.status).toBe(202)
    const made = await answer.json<Logged>()
    expect(answer.headers.get("location")).toMatch(`/v1/webhooks/deliveries/${made.id}`)
    expect(made).toMatchObject({ job_id: null, type: "webhook.test", status: "waiting", tries: [] })
    await expect.poll(async () => (await read(made.id)).status).toBe("delivered")
    expect(requests).toHaveLength(1)
    expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({
      type: "webhook.test",
      timestamp: expect.any(String),
      data: { message: expect.any(String) },
    })
  })

  it("refuse a test to a URL that is not allowed", async () => {
    for (const url of ["http://localhost/x", "ftp://a.example/x", undefined]) {
      const answer = await caller.post("/webhooks/test", { url })
      expect(answer.status).toBe(422)
      expect(await answer.json()).toMatchObject({ details: [{ field: "url" }] })
    }
  })

  it("replay the same id and bytes, and keep earlier tries", async () => {
    const requests = receive(() => new Response(null, { status: 410 }))
    const id = await makeDelivery({ tries: 3 })
    await attemptDelivery(env, accountId, id)
    expect((await read(id)).status).toBe("failed")
    const answer = await caller.post(`/webhooks/deliveries/${id}/replay`, {})
    expect(answer.status).toBe(202)
    expect(await answer.json()).toMatchObject({ id, status: "waiting", completed_at: null })
    await expect.poll(async () => (await read(id)).tries.length).toBe(2)
    expect((await read(id)).tries.map(({ number }) => number)).toEqual([1, 2])
    const [first, second] = requests
    expect(second?.body).toBe(first?.body)
    expect(second?.request.headers.get("webhook-id")).toBe(id)
  })

  it("list deliveries newest first, by job and status, with a next page that keeps both", async () => {
    const other = await makeCaller("webhooks-list")
    const row = env.DB.prepare("select id from accounts where name = 'webhooks-list'")
    const owner = String(await row.first("id"))
    const ids: string[] = []
    for (const state of ["failed", "delivered", "failed", "failed"] as const) {
      ids.push(await makeDelivery({ state, jobId: newId() }, owner))
    }
    const all = await (await other.call("/webhooks/deliveries")).json<Logged[]>()
    expect(all.map(({ id }) => id)).toEqual(ids.toReversed())
    const page = await other.call("/webhooks/deliveries?status=failed&limit=2")
    const link = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1] ?? ""
    expect(link).toContain("status=failed")
    const next = await other.call(link.replace(/^.*\/v1/, ""))
    expect((await next.json<Logged[]>()).map(({ id }) => id)).toEqual([ids[0]])
    const jobId = (await (await other.call(`/webhooks/deliveries/${ids[1]}`)).json<Job>()).job_id
    const ofJob = await other.call(`/webhooks/deliveries?job_id=${jobId}`)
    expect((await ofJob.json<Logged[]>()).map(({ id }) => id)).toEqual([ids[1]])
    for (const query of ["status=sent", "job_id=1", "limit=0"]) {
      expect((await other.call(`/webhooks/deliveries?${query}`)).status).toBe(422)
    }
  })

  it("never show or replay another account's delivery", async () => {
    const stranger = await makeCaller("webhooks-stranger")
    const id = await makeDelivery()
    for (const each of [id, newId(), "no-id"]) {
      expect((await stranger.call(`/webhooks/deliveries/${each}`)).status).toBe(404)
      expect((await stranger.post(`/webhooks/deliveries/${each}/replay`, {})).status).toBe(404)
    }
    expect(await (await stranger.call("/webhooks/deliveries")).json()).toEqual([])
  })

  it("rotate the secret, and the previous secret still verifies for a day", async () => {
    const own = await makeCaller("webhooks-rotate")
    const row = env.DB.prepare("select id from accounts where name = 'webhooks-rotate'")
    const owner = String(await row.first("id"))
    const before = await (await own.call("/webhooks/secret")).json<{ secret: string }>()
    const rotated = await (await own.post("/webhooks/secret/rotate", {})).json<Rotated>()
    expect(rotated.secret).not.toBe(before.secret)
    const validMs = Date.parse(rotated.previous_valid_until) - Date.now()
    expect(Math.abs(validMs - 86_400_000)).toBeLessThan(5000)
    expect(await (await own.call("/webhooks/secret")).json()).toEqual(rotated)
    const requests = receive(() => new Response())
    await attemptDelivery(env, owner, await makeDelivery({}, owner))
    const headers = Object.fromEntries(requests[0]?.request.headers ?? [])
    for (const { secret } of [before, rotated]) {
      expect(new Webhook(secret).verify(requests[0]?.body ?? "", headers)).toBeTruthy()
    }
  })
})

type Job = { job_id: string }
type Rotated = { secret: string; previous_valid_until: string }
