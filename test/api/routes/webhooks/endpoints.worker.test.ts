import { env } from "cloudflare:workers"
import { Webhook } from "standardwebhooks"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { openAccountDatabases } from "../../../../src/db/database.ts"
import { insertDelivery } from "../../../../src/db/deliveries.ts"
import { newId } from "../../../../src/platform/ids.ts"
import { attemptDelivery } from "../../../../src/webhooks/deliver.ts"
import {
  EVENT_PATTERNS,
  EVENT_TYPES,
  matchesEventType,
} from "../../../../src/webhooks/event-types.ts"
import { makeCallerWithKey, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { readProblem } from "../../../support/problem.ts"

const PATH = "/webhooks/endpoints"
const URL = "https://receiver.example/events"

type Endpoint = {
  id: string
  url: string
  events: string[]
  enabled: boolean
  gone_at: string | null
  secret: string
}
type Logged = {
  url: string
  endpoint_id: string
  status: string
  tries: { error?: string; status: number }[]
}

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(`endpoints ${newId()}`, "trial", { scopes: ["admin"] })
  accountId = await findCallerAccountId(caller)
})

afterEach(() => vi.restoreAllMocks())

async function create(body: object = { url: URL }): Promise<Endpoint> {
  const answer = await caller.post(PATH, body)
  if (answer.status !== 201) throw new Error(await answer.text())
  return await answer.json<Endpoint>()
}

async function patch(id: string, body: object): Promise<Endpoint> {
  const init = { method: "PATCH", headers: { "content-type": "application/json" } }
  const answer = await caller.call(`${PATH}/${id}`, { ...init, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(await answer.text())
  return await answer.json<Endpoint>()
}

async function read(id: string): Promise<Endpoint> {
  return await (await caller.call(`${PATH}/${id}`)).json<Endpoint>()
}

/** Stands in for every receiver; returns the headers and bodies of received requests. */
function receive(status = 200) {
  const requests: { headers: Record<string, string>; body: string; url: string }[] = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const request = new Request(input)
    const { url } = request
    requests.push({ headers: Object.fromEntries(request.headers), url, body: await request.text() })
    return new Response(null, { status })
  })
  return requests
}

/** Stores a delivery of a job's end to an endpoint. */
async function makeDelivery({ id, url }: Endpoint): Promise<string> {
  const made = { id: newId(), jobId: newId(), endpointId: id, type: "command.succeeded", url }
  const due = { state: "waiting" as const, nextTryAt: Date.now(), createdAt: Date.now() }
  await insertDelivery(openAccountDatabases(env, accountId), { ...made, ...due, body: '{"a":1}' })
  return made.id
}

async function logged(id: string): Promise<Logged> {
  return await (await caller.call(`/webhooks/deliveries/${id}`)).json<Logged>()
}

describe("an endpoint", () => {
  it("is made with its secret, which lists and records leave out", async () => {
    const answer = await caller.post(PATH, { url: URL, events: ["command.*"], description: "CI" })
    const made = await answer.json<Endpoint>()
    expect(answer.headers.get("location")).toBe(`https://lathe.test/v1${PATH}/${made.id}`)
    expect(made).toEqual({
      id: made.id,
      url: URL,
      events: ["command.*"],
      description: "CI",
      enabled: true,
      gone_at: null,
      created_at: expect.any(String),
      secret: expect.stringMatching(/^whsec_/),
    })
    const { secret, ...record } = made
    expect(await read(made.id)).toEqual(record)
    const second = await create()
    expect(second.events).toEqual(["*"])
    expect(second.secret).not.toBe(secret)
    const list = await (await caller.call(PATH)).json<Endpoint[]>()
    expect(list.map(({ id }) => id)).toEqual([second.id, made.id])
    expect(JSON.stringify(list)).not.toContain("whsec_")
  })

  it("is changed by the fields of a PATCH alone, and deleted", async () => {
    const { id } = await create({ url: URL, events: ["*.failed"] })
    expect(await patch(id, { enabled: false })).toMatchObject({ enabled: false, url: URL })
    expect(await patch(id, { url: `${URL}/2` })).toMatchObject({
      enabled: false,
      url: `${URL}/2`,
      events: ["*.failed"],
    })
    expect((await caller.call(`${PATH}/${id}`, { method: "DELETE" })).status).toBe(200)
    expect((await caller.call(`${PATH}/${id}`)).status).toBe(404)
    expect((await caller.call(`${PATH}/${id}`, { method: "DELETE" })).status).toBe(404)
  })

  it.each([
    [{ url: "http://10.0.0.1/" }, "url", "expected a public host"],
    [{ url: "ftp://receiver.example/" }, "url", "http"],
    [{}, "url", "expected a URL"],
    [{ url: URL, events: [] }, "events", "expected an array of types of events"],
    [{ url: URL, events: ["command.done"] }, "events.0", "expected `*`, or a type of event"],
    [{ url: URL, events: ["metadata.succeeded"] }, "events.0", "expected `*`"],
    [{ url: URL, enabled: "yes" }, "enabled", "expected true or false"],
    [{ url: URL, description: "x".repeat(201) }, "description", "at most 200 characters"],
    [{ url: URL, secret: "whsec_x" }, "secret", "unknown field"],
  ])("is refused as %j", async (body, field, message) => {
    const { details, status } = await readProblem(await caller.post(PATH, body))
    expect(status).toBe(422)
    expect(details).toContainEqual(
      expect.objectContaining({ field, message: expect.stringContaining(message) }),
    )
  })

  it("is one of at most sixteen, however many are made at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => caller.post(PATH, { url: URL })),
    )
    const counts = Map.groupBy(answers, ({ status }) => status)
    expect([counts.get(201)?.length, counts.get(409)?.length]).toEqual([16, 4])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused && (await readProblem(refused)).code_name).toBe("endpoint_limit_exceeded")
  })
})

describe("the secret of an endpoint", () => {
  it("signs its events alone; after a rotation the one before signs, too", async () => {
    const requests = receive()
    const endpoint = await create()
    await attemptDelivery(env, accountId, await makeDelivery(endpoint))
    const path = `${PATH}/${endpoint.id}/secret`
    const shown = await (await caller.call(path)).json<{ secret: string }>()
    expect(shown).toEqual({ secret: endpoint.secret, previous_valid_until: null })
    const rotated = await caller.call(`${path}/rotate`, { method: "POST" })
    const { secret } = await rotated.json<{ secret: string }>()
    expect(secret).not.toBe(endpoint.secret)
    await attemptDelivery(env, accountId, await makeDelivery(endpoint))
    const [first, second] = requests
    if (!first || !second) throw new Error("nothing was sent")
    expect(new Webhook(endpoint.secret).verify(first.body, first.headers)).toEqual({ a: 1 })
    for (const each of [secret, endpoint.secret]) {
      expect(new Webhook(each).verify(second.body, second.headers)).toEqual({ a: 1 })
    }
    const own = await (await caller.call("/webhooks/secret")).json<{ secret: string }>()
    expect(() => new Webhook(own.secret).verify(first.body, first.headers)).toThrow(/signature/)
  })

  it("is shown to keys with the scope admin alone", async () => {
    const { id } = await create()
    const made = await caller.post("/keys", { name: "writer", scopes: ["write"] })
    const writer = makeCallerWithKey(await made.json<{ id: string; key: string }>())
    const secret = `${PATH}/${id}/secret`
    expect((await writer.call(secret)).status).toBe(403)
    expect((await writer.call(`${secret}/rotate`, { method: "POST" })).status).toBe(403)
    expect((await writer.call(`${PATH}/${id}`)).status).toBe(200)
    expect((await caller.call(secret)).status).toBe(200)
  })
})

describe("a delivery to an endpoint", () => {
  it("names it, and a test event is one", async () => {
    const requests = receive()
    const { id, secret } = await create()
    const answer = await caller.call(`${PATH}/${id}/test`, { method: "POST" })
    expect(answer.status).toBe(202)
    const delivery = await answer.json<{ id: string; endpoint_id: string }>()
    expect(delivery).toMatchObject({ endpoint_id: id, type: "webhook.test", job_id: null })
    await vi.waitFor(async () => {
      await attemptDelivery(env, accountId, delivery.id)
      expect(requests).toHaveLength(1)
    })
    const [sent] = requests
    expect(sent && new Webhook(secret).verify(sent.body, sent.headers)).toMatchObject({
      type: "webhook.test",
    })
  })

  it("with the answer 410 disables the endpoint, until its owner enables it", async () => {
    receive(410)
    const endpoint = await create()
    const id = await makeDelivery(endpoint)
    await attemptDelivery(env, accountId, id)
    expect(await logged(id)).toMatchObject({ status: "failed", tries: [{ status: 410 }] })
    const gone = await read(endpoint.id)
    expect(gone).toMatchObject({ enabled: false, gone_at: expect.any(String) })
    expect(await patch(endpoint.id, { enabled: true })).toMatchObject({
      enabled: true,
      gone_at: null,
    })
  })

  it("with the answer 410 of a former URL changes nothing", async () => {
    receive(410)
    const endpoint = await create()
    const id = await makeDelivery(endpoint)
    await patch(endpoint.id, { url: `${URL}/new` })
    await attemptDelivery(env, accountId, id)
    expect(await read(endpoint.id)).toMatchObject({ enabled: true, gone_at: null })
  })

  it("fails at once, unsent, where the endpoint is disabled or deleted; a test event is sent", async () => {
    const requests = receive()
    const endpoint = await create()
    const [first, second] = [await makeDelivery(endpoint), await makeDelivery(endpoint)]
    await patch(endpoint.id, { enabled: false })
    await attemptDelivery(env, accountId, first)
    expect(await logged(first)).toMatchObject({
      status: "failed",
      endpoint_id: endpoint.id,
      tries: [{ status: null, error: "its endpoint is disabled" }],
    })
    expect(requests).toHaveLength(0)
    const tested = await caller.call(`${PATH}/${endpoint.id}/test`, { method: "POST" })
    const { id } = await tested.json<{ id: string }>()
    await vi.waitFor(async () => {
      await attemptDelivery(env, accountId, id)
      expect((await logged(id)).status).toBe("delivered")
    })
    await caller.call(`${PATH}/${endpoint.id}`, { method: "DELETE" })
    await attemptDelivery(env, accountId, second)
    expect(await logged(second)).toMatchObject({
      status: "failed",
      tries: [{ error: "its endpoint was deleted" }],
    })
  })

  it("is sent again by a replay after the endpoint is enabled", async () => {
    const requests = receive()
    const endpoint = await create()
    const id = await makeDelivery(endpoint)
    await patch(endpoint.id, { enabled: false })
    await attemptDelivery(env, accountId, id)
    await patch(endpoint.id, { enabled: true })
    await caller.call(`/webhooks/deliveries/${id}/replay`, { method: "POST" })
    await vi.waitFor(async () => {
      await attemptDelivery(env, accountId, id)
      expect((await logged(id)).status).toBe("delivered")
    })
    expect(requests).toHaveLength(1)
  })

  it("goes by a replay to the URL that the endpoint has then", async () => {
    receive()
    const [endpoint, other] = [await create(), await create()]
    const id = await makeDelivery(endpoint)
    await patch(endpoint.id, { url: `${URL}/moved` })
    await patch(other.id, { url: `${URL}/other` })
    expect((await logged(id)).url).toBe(URL)
    await caller.call(`/webhooks/deliveries/${id}/replay`, { method: "POST" })
    expect((await logged(id)).url).toBe(`${URL}/moved`)
  })
})

describe("a pattern of events", () => {
  it("matches types by kind and state", () => {
    expect(EVENT_TYPES).toHaveLength(23)
    for (const [pattern, count] of [
      ["*", 23],
      ["command.*", 3],
      ["*.failed", 8],
      ["fetch.canceled", 1],
    ] as const) {
      expect(EVENT_PATTERNS).toContain(pattern)
      const types = EVENT_TYPES.filter((type) => matchesEventType(pattern, type))
      expect([pattern, types.length]).toEqual([pattern, count])
    }
  })
})
