import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { hasApiKeyFormat, assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { fetchWorker, fetchOperatorRoute, makeCaller } from "../../support/caller.ts"

const ID = "0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11"

describe("the key of a request", () => {
  it("is not needed by GET /health", async () => {
    const answer = await fetchWorker("/v1/health")
    expect(answer.status).toBe(200)
    // No runner listens in these tests.
    expect(await answer.json()).toEqual({ status: "degraded", reasons: ["runner_unreachable"] })
  })

  it("may be in either header or in the query", async () => {
    const { key } = await makeCaller("three forms")
    const forms: [string, HeadersInit][] = [
      ["/v1/files", { "x-api-key": key }],
      ["/v1/files", { authorization: `Bearer ${key}` }],
      [`/v1/files?key=${key}`, {}],
    ]
    for (const [path, headers] of forms)
      expect((await fetchWorker(path, { headers })).status).toBe(200)
  })

  it("is refused if two headers have different keys", async () => {
    const { key } = await makeCaller("two keys")
    const headers = { "x-api-key": key, authorization: `Bearer ${assembleApiKey()}` }
    expect((await fetchWorker("/v1/files", { headers })).status).toBe(400)
  })

  it("is stored only as its hash and its first eight characters", async () => {
    const { id, key } = await makeCaller("stored")
    const row = await env.DB.prepare("select * from keys where id = ?").bind(id).first()
    expect(JSON.stringify(row)).not.toContain(key.slice(8, 40))
    expect(row?.["prefix"]).toBe(key.slice(0, 8))
  })

  it("has a checksum that detects typos", () => {
    const key = assembleApiKey()
    expect(key).toMatch(/^lathe_[0-9A-Za-z]{40}$/)
    expect(hasApiKeyFormat(key)).toBe(true)
    const typo = key.slice(0, 10) + (key[10] === "a" ? "b" : "a") + key.slice(11)
    expect(hasApiKeyFormat(typo)).toBe(false)
  })
})

describe("the operator's routes", () => {
  it("refuse requests without the operator's token", async () => {
    const { key } = await makeCaller("no operator")
    for (const authorization of ["", "Bearer wrong", `Bearer ${key}`]) {
      const answer = await fetchWorker("/operator/keys", { headers: { authorization } })
      expect(answer.status).toBe(401)
    }
  })

  it("refuse announcements of a runner without ANNOUNCE_TOKEN", async () => {
    for (const path of ["/runner-up", "/runner-up/"]) {
      const init = { method: "POST", body: '{"boot":"b"}' }
      expect((await fetchOperatorRoute(path, init)).status).not.toBe(200)
      const none = await fetchWorker(`/operator${path}`, {
        ...init,
        headers: { authorization: "Bearer " },
      })
      expect(none.status).toBe(401)
    }
  })

  it("report the faulty field of a new key", async () => {
    const answer = await fetchOperatorRoute("/keys", {
      method: "POST",
      body: '{"account":"","plan":"x"}',
    })
    expect(answer.status).toBe(422)
    const { details } = await answer.json<{ details: { field: string }[] }>()
    expect(details.map(({ field }) => field)).toEqual(["account", "plan"])
  })

  it("find an account by its name, and change its plan only if one is given", async () => {
    for (const body of [{ account: "a", plan: "paid" }, { account: "a" }]) {
      const answer = await fetchOperatorRoute("/keys", {
        method: "POST",
        body: JSON.stringify(body),
      })
      expect(await answer.json()).toMatchObject({ account: "a", plan: "paid" })
    }
  })

  it("answer 404 for an unknown key", async () => {
    expect((await fetchOperatorRoute(`/keys/${ID}`, { method: "DELETE" })).status).toBe(404)
  })
})
