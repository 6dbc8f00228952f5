import { env } from "cloudflare:workers"
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { hashApiKey, visibleKeyPrefix } from "../../../../src/platform/crypto/api-key.ts"
import { VALID_API_KEYS_MAX } from "../../../../src/db/accounts/account-keys.ts"
import { makeCallerWithKey, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { readProblem } from "../../../support/problem.ts"

type KeyRecord = {
  id: string
  key: string
  name: string
  prefix: string
  scopes: string[]
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
  replaced_by: string | null
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let owner: TestCaller

beforeAll(async () => {
  owner = await makeCaller("owner of keys")
})

afterEach(() => {
  vi.useRealTimers()
})

async function create(by: TestCaller, body: object): Promise<KeyRecord> {
  const answer = await by.post("/keys", body)
  expect(answer.status).toBe(201)
  return await answer.json<KeyRecord>()
}

async function get(by: TestCaller, id: string): Promise<KeyRecord> {
  return await (await by.call(`/keys/${id}`)).json<KeyRecord>()
}

async function rotate(by: TestCaller, id: string, body: object): Promise<KeyRecord> {
  const answer = await by.post(`/keys/${id}/rotate`, body)
  expect(answer.status).toBe(201)
  return await answer.json<KeyRecord>()
}

function statusOf(made: { id: string; key: string }): Promise<number> {
  return makeCallerWithKey(made)
    .call("/files")
    .then(({ status }) => status)
}

/** Time from creation to expiry, in milliseconds. */
function lifeOf({ created_at, expires_at }: KeyRecord): number {
  return Date.parse(expires_at ?? "") - Date.parse(created_at)
}

/** Moves the clock of the Worker and its objects, which run in the test's process. */
function pass(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms })
}

describe("a new key", () => {
  it("is shown once, and is valid at once", async () => {
    const { key, ...record } = await create(owner, { name: "  deploy ", scopes: ["write", "read"] })
    expect(record).toMatchObject({
      name: "deploy",
      prefix: visibleKeyPrefix(key),
      scopes: ["read", "write"],
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      replaced_by: null,
    })
    expect(await statusOf({ id: record.id, key })).toBe(200)
    expect(await get(owner, record.id)).toEqual(record)
    const listed = await (await owner.call("/keys")).text()
    expect(listed).toContain(record.id)
    expect(listed).not.toContain(key)
  })

  it("may read and write by default", async () => {
    expect((await create(owner, { name: "plain" })).scopes).toEqual(["read", "write"])
  })

  it.each([
    ["no name", {}, ["name"]],
    ["an empty name", { name: "  " }, ["name"]],
    ["a long name", { name: "x".repeat(101) }, ["name"]],
    ["a name of two lines", { name: "a\nb" }, ["name"]],
    ["no scope", { name: "a", scopes: [] }, ["scopes"]],
    ["an unknown scope", { name: "a", scopes: ["read", "all"] }, ["scopes.1"]],
    ["a day as expiry", { name: "a", expires_at: "2999-01-01" }, ["expires_at"]],
    ["an expiry that is over", { name: "a", expires_at: "2020-01-01T00:00:00Z" }, ["expires_at"]],
    ["more than is known", { name: "a", key: "lathe_" }, ["key"]],
  ])("is refused with %s", async (_, body, fields) => {
    const answer = await owner.post("/keys", body)
    const { details } = await readProblem(answer)
    expect([answer.status, details.map(({ field }) => field)]).toEqual([422, fields])
  })

  it.each([
    "2020-01-01T00:00:00Z",
    "2020-01-01T00:00:00+02:00",
    "2020-01-01 00:00:00",
    "2020-01-01",
    "Wed, 01 Jan 2020 00:00:00 GMT",
    "1577836800",
    1_577_836_800,
    1_577_836_800_000,
  ])("is refused with the expiry %o, which is in the past", async (expires_at) => {
    const answer = await owner.post("/keys", { name: "a", expires_at })
    const { message } = await readProblem(answer)
    expect(answer.status).toBe(422)
    expect(message).toMatch(/^expires_at: it is in the past: expected a moment in the future/)
    expect(message).not.toContain("write")
  })

  it("is refused with Unix time as expiry, and the answer names the date-time", async () => {
    const answer = await owner.post("/keys", { name: "a", expires_at: 4_102_444_800 })
    const { message } = await readProblem(answer)
    expect(message).toContain("write `2100-01-01T00:00:00Z`")
  })

  it("is refused above the limit of valid keys, until one is revoked", async () => {
    const full = await makeCaller("full of keys")
    // Concurrent creates, so that the count and the insert could race.
    const answers = await Promise.all(
      Array.from({ length: VALID_API_KEYS_MAX + 9 }, () =>
        full.post("/keys", { name: "one of many" }),
      ),
    )
    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(VALID_API_KEYS_MAX - 1)
    const refused = await full.post("/keys", { name: "one more" })
    expect([refused.status, (await readProblem(refused)).code_name]).toEqual([
      409,
      "key_limit_exceeded",
    ])
    const one = await made[0]?.json<KeyRecord>()
    expect((await full.post(`/keys/${one?.id}/rotate`, {})).status).toBe(409)
    await rotate(full, one?.id ?? "", { overlap_seconds: 0 })
    const [newest] = await (await full.call("/keys?limit=1")).json<KeyRecord[]>()
    await full.call(`/keys/${newest?.id}`, { method: "DELETE" })
    await create(full, { name: "one more" })
  })

  it("is listed page by page, newest first", async () => {
    const lister = await makeCaller("lister of keys")
    const ids: string[] = []
    for (const name of ["a", "b", "c"]) ids.unshift((await create(lister, { name })).id)
    const first = await lister.call("/keys?limit=2")
    const next = /<https:\/\/lathe\.test\/v1([^>]+)>; rel="next"/.exec(
      first.headers.get("link") ?? "",
    )
    const rest = await lister.call(next?.[1] ?? "")
    const pages = [await first.json<KeyRecord[]>(), await rest.json<KeyRecord[]>()]
    expect(pages.flat().map(({ id }) => id)).toEqual([...ids, lister.id])
  })

  it("shows its last use soon after", async () => {
    const made = await create(owner, { name: "used" })
    await statusOf(made)
    await expect
      .poll(async () => (await get(owner, made.id)).last_used_at, {
        timeout: 60_000,
        interval: 200,
      })
      .not.toBeNull()
  })
})

describe("an expiring key", () => {
  it("is valid until it expires and not later, though its limiter caches it", async () => {
    const expires_at = new Date(Date.now() + HOUR_MS).toISOString()
    const made = await create(owner, { name: "for an hour", expires_at })
    expect(made.expires_at).toBe(expires_at)
    pass(HOUR_MS - 400)
    expect(await statusOf(made)).toBe(200)
    // Within the second for which the limiter needs no lookup.
    pass(400)
    expect(await statusOf(made)).toBe(401)
  })
})

describe("a revoked key", () => {
  it("is invalid at once, even if it is the key of the request, and its record stays", async () => {
    const made = await create(owner, { name: "leaving", scopes: ["admin"] })
    const caller = makeCallerWithKey(made)
    const answer = await caller.call(`/keys/${made.id}`, { method: "DELETE" })
    expect([answer.status, await answer.json()]).toEqual([200, {}])
    expect((await caller.call("/files")).status).toBe(401)
    const { revoked_at } = await get(owner, made.id)
    expect(revoked_at).not.toBeNull()
    expect((await owner.call(`/keys/${made.id}`, { method: "DELETE" })).status).toBe(200)
    expect((await get(owner, made.id)).revoked_at).toBe(revoked_at)
  })
})

describe("a rotated key", () => {
  it("is valid beside the new key for the overlap, and names the new key", async () => {
    const before = await create(owner, { name: "old", scopes: ["read"] })
    const after = await rotate(owner, before.id, { overlap_seconds: 3600 })
    expect(after).toMatchObject({ name: "old", scopes: ["read"], expires_at: null })
    expect(await Promise.all([before, after].map(statusOf))).toEqual([200, 200])
    const record = await get(owner, before.id)
    expect(record.replaced_by).toBe(after.id)
    const endsAt = Date.parse(record.expires_at ?? "")
    expect(endsAt - Date.parse(after.created_at)).toBeGreaterThanOrEqual(HOUR_MS)
    expect(endsAt - Date.parse(after.created_at)).toBeLessThan(HOUR_MS + 1000)
    pass(HOUR_MS + 1000)
    expect(await Promise.all([before, after].map(statusOf))).toEqual([401, 200])
  })

  it("is valid for a day without an overlap in the body, and the body may be missing", async () => {
    const before = await create(owner, { name: "by default" })
    const answer = await owner.call(`/keys/${before.id}/rotate`, { method: "POST" })
    expect(answer.status).toBe(201)
    const { created_at } = await answer.json<KeyRecord>()
    const { expires_at } = await get(owner, before.id)
    expect(Date.parse(expires_at ?? "") - Date.parse(created_at)).toBeLessThan(DAY_MS + 1000)
    expect(Date.parse(expires_at ?? "") - Date.parse(created_at)).toBeGreaterThanOrEqual(DAY_MS)
  })

  it("is invalid at once with an overlap of 0", async () => {
    const before = await create(owner, { name: "at once" })
    expect(await statusOf(before)).toBe(200)
    const after = await rotate(owner, before.id, { overlap_seconds: 0 })
    expect(await Promise.all([before, after].map(statusOf))).toEqual([401, 200])
  })

  it("keeps its expiry, and the new key has the old key's lifetime", async () => {
    const expires_at = new Date(Date.now() + HOUR_MS).toISOString()
    const before = await create(owner, { name: "short", expires_at })
    pass(HOUR_MS / 2)
    const after = await rotate(owner, before.id, { overlap_seconds: 86_400 })
    expect((await get(owner, before.id)).expires_at).toBe(expires_at)
    expect(lifeOf(after)).toBe(lifeOf(before))
  })

  it("may be the key of the request", async () => {
    const before = await create(owner, { name: "own", scopes: ["admin"] })
    const after = await rotate(makeCallerWithKey(before), before.id, { overlap_seconds: 60 })
    expect(await Promise.all([before, after].map(statusOf))).toEqual([200, 200])
  })

  it.each([
    ["revoked", "update keys set revoked_at = 1 where id = ?", "The key is revoked"],
    ["expired", "update keys set expires_at = 1 where id = ?", "The key has expired"],
  ])("cannot be rotated if it is %s", async (_, sql, sentence) => {
    const { id } = await create(owner, { name: "gone" })
    await env.DB.prepare(sql).bind(id).run()
    const answer = await owner.post(`/keys/${id}/rotate`, {})
    expect([answer.status, await readProblem(answer)]).toMatchObject([
      409,
      { code_name: "key_not_rotatable", message: expect.stringContaining(sentence) },
    ])
  })

  it("is rotated once by concurrent requests", async () => {
    const { id } = await create(owner, { name: "raced" })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post(`/keys/${id}/rotate`, {})),
    )
    const made = answers.filter(({ status }) => status === 201)
    const late = answers.filter(({ status }) => status === 409)
    expect([made.length, late.length]).toEqual([1, 7])
    const { replaced_by } = await get(owner, id)
    expect((await late[0]?.json<{ message: string }>())?.message).toContain(replaced_by)
  })

  it.each([-1, 2_592_001, 1.5, "60"])(
    "cannot be rotated with an overlap of %s",
    async (seconds) => {
      const answer = await owner.post(`/keys/${owner.id}/rotate`, { overlap_seconds: seconds })
      expect(answer.status).toBe(422)
    },
  )
})

describe("the stored form of a key", () => {
  it("is its hash and its first characters, after a rotation too", async () => {
    const before = await create(owner, { name: "stored" })
    const after = await rotate(owner, before.id, {})
    for (const { id, key } of [before, after]) {
      const row = await env.DB.prepare("select * from keys where id = ?").bind(id).first()
      expect(JSON.stringify(row)).not.toContain(key.slice(8, 40))
      expect(row).toMatchObject({ hash: await hashApiKey(key), prefix: visibleKeyPrefix(key) })
    }
  })
})
