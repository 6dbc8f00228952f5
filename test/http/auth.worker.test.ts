import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { hasKeyShape, makeKey } from "../../src/crypto/api-key.ts"
import { ask, askOperator, makeCaller } from "../support/caller.ts"

const ID = "0198f0b2-7c11-7cc3-9f3e-0a6b3d2f1a11"

describe("the key of a request", () => {
  it("is not asked for by health", async () => {
    const answer = await ask("/v1/health")
    expect(answer.status).toBe(200)
    // Nothing listens where these tests have the runner.
    expect(await answer.json()).toEqual({ status: "degraded", reasons: ["runner_unreachable"] })
  })

  it("may come in either header or in the query", async () => {
    const { key } = await makeCaller("three forms")
    const forms: [string, HeadersInit][] = [
      ["/v1/files", { "x-api-key": key }],
      ["/v1/files", { authorization: `Bearer ${key}` }],
      [`/v1/files?key=${key}`, {}],
    ]
    for (const [path, headers] of forms) expect((await ask(path, { headers })).status).toBe(200)
  })

  it("is refused where two headers carry different ones", async () => {
    const { key } = await makeCaller("two keys")
    const headers = { "x-api-key": key, authorization: `Bearer ${makeKey()}` }
    expect((await ask("/v1/files", { headers })).status).toBe(400)
  })

  it("is stored as its hash and its first eight characters only", async () => {
    const { id, key } = await makeCaller("stored")
    const row = await env.DB.prepare("select * from keys where id = ?").bind(id).first()
    expect(JSON.stringify(row)).not.toContain(key.slice(8, 40))
    expect(row?.["prefix"]).toBe(key.slice(0, 8))
  })

  it("has a checksum that a typo does not pass", () => {
    const key = makeKey()
    expect(key).toMatch(/^lathe_[0-9A-Za-z]{40}$/)
    expect(hasKeyShape(key)).toBe(true)
    const typo = key.slice(0, 10) + (key[10] === "a" ? "b" : "a") + key.slice(11)
    expect(hasKeyShape(typo)).toBe(false)
  })
})

describe("the operator's routes", () => {
  it("refuse whoever does not have the operator's token", async () => {
    const { key } = await makeCaller("no operator")
    for (const authorization of ["", "Bearer wrong", `Bearer ${key}`]) {
      const answer = await ask("/operator/keys", { headers: { authorization } })
      expect(answer.status).toBe(401)
    }
  })

  it("hear of a runner from nobody where none has a token for that", async () => {
    for (const path of ["/runner-up", "/runner-up/"]) {
      const init = { method: "POST", body: '{"boot":"b"}' }
      expect((await askOperator(path, init)).status).not.toBe(200)
      const none = await ask(`/operator${path}`, { ...init, headers: { authorization: "Bearer " } })
      expect(none.status).toBe(401)
    }
  })

  it("say which field of a new key is wrong", async () => {
    const answer = await askOperator("/keys", { method: "POST", body: '{"account":"","plan":"x"}' })
    expect(answer.status).toBe(422)
    const { details } = await answer.json<{ details: { field: string }[] }>()
    expect(details.map(({ field }) => field)).toEqual(["account", "plan"])
  })

  it("keep an account by its name and change its plan only where one is given", async () => {
    for (const body of [{ account: "a", plan: "paid" }, { account: "a" }]) {
      const answer = await askOperator("/keys", { method: "POST", body: JSON.stringify(body) })
      expect(await answer.json()).toMatchObject({ account: "a", plan: "paid" })
    }
  })

  it("answer 404 for a key that is not there", async () => {
    expect((await askOperator(`/keys/${ID}`, { method: "DELETE" })).status).toBe(404)
  })
})
