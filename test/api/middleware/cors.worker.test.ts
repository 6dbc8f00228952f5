import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { app } from "../../../src/app.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller, FileRecord } from "../../support/caller.ts"

const APP = "https://app.example.com"
const OTHER = "https://other.example.com"

let caller: TestCaller
let file: FileRecord

beforeAll(async () => {
  caller = await makeCaller("cors")
  file = await uploadTestFile(caller, "ten.txt", "0123456789")
})

/** Sends a script's request from a page of `origin` to a service with these CORS_ORIGINS. */
async function send(
  path: string,
  init: RequestInit & { origin: string; origins?: string },
): Promise<Response> {
  const { origin, origins = `https://first.example, ${APP}`, ...rest } = init
  const headers = new Headers(rest.headers)
  headers.set("origin", origin)
  const request = new Request(`https://lathe.test${path}`, { ...rest, headers, redirect: "manual" })
  return await app.fetch(request, { ...env, CORS_ORIGINS: origins }, createExecutionContext())
}

async function preflight(path: string, origin: string, origins?: string): Promise<Response> {
  return await send(path, {
    origin,
    ...(origins !== undefined && { origins }),
    method: "OPTIONS",
    headers: {
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key,idempotency-key",
    },
  })
}

function listOf(answer: Response, name: string): string[] {
  return (answer.headers.get(name) ?? "").toLowerCase().split(/\s*,\s*/)
}

describe("/v1 for a page of CORS_ORIGINS", () => {
  it.each([
    "/v1/commands",
    `/v1/files/${crypto.randomUUID()}/publish`,
    "/v1/health",
    "/v1/nothing",
  ])("answers a preflight of %s without a key", async (path) => {
    const answer = await preflight(path, APP)
    expect([answer.status, await answer.text()]).toEqual([204, ""])
    expect(answer.headers.get("access-control-allow-origin")).toBe(APP)
    expect(listOf(answer, "vary")).toContain("origin")
    expect(listOf(answer, "access-control-allow-methods")).toEqual([
      "get",
      "head",
      "post",
      "patch",
      "delete",
    ])
    expect(listOf(answer, "access-control-allow-headers")).toEqual(
      expect.arrayContaining(["x-api-key", "authorization", "idempotency-key", "prefer", "range"]),
    )
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull()
  })

  it("allows it to read answers, with the headers of limits and locations", async () => {
    const answer = await send("/v1/account", { origin: APP, headers: { "x-api-key": caller.key } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("access-control-allow-origin")).toBe(APP)
    expect(listOf(answer, "vary")).toContain("origin")
    expect(listOf(answer, "access-control-expose-headers")).toEqual(
      expect.arrayContaining([
        "content-range",
        "location",
        "ratelimit",
        "ratelimit-policy",
        "retry-after",
        "x-request-id",
      ]),
    )
  })

  it.each([
    ["a malformed key", "/v1/account", 401],
    ["an unknown path", "/v1/nothing", 404],
    ["an invalid query", "/v1/files?limit=x", 422],
  ])("allows it to read the problem of %s", async (name, path, status) => {
    const headers = { "x-api-key": status === 401 ? "lathe_no" : caller.key }
    const answer = await send(path, { origin: APP, headers })
    expect([name, answer.status]).toEqual([name, status])
    expect(answer.headers.get("access-control-allow-origin")).toBe(APP)
    expect(answer.headers.get("content-type")).toContain("json")
  })

  it("allows it to follow a redirect to a link", async () => {
    const headers = { "x-api-key": caller.key }
    const answer = await send(`/v1/files/${file.id}/ten.txt`, { origin: APP, headers })
    expect(answer.status).toBe(302)
    expect(answer.headers.get("access-control-allow-origin")).toBe(APP)
  })
})

describe("/v1 for every other page", () => {
  it.each([OTHER, "null", "https://app.example.com:8443", "http://app.example.com"])(
    "sends no CORS headers to %s",
    async (origin) => {
      const headers = { "x-api-key": caller.key }
      for (const answer of [
        await preflight("/v1/commands", origin),
        await send("/v1/account", { origin, headers }),
      ]) {
        const named = [...answer.headers.keys()].filter((name) => name.startsWith("access-control"))
        expect(named).toEqual([])
      }
    },
  )

  it("sends no CORS headers if CORS_ORIGINS is not set", async () => {
    const answer = await preflight("/v1/commands", APP, "")
    expect(answer.status).toBe(401)
    expect(answer.headers.get("access-control-allow-origin")).toBeNull()
  })

  it("does not exist if CORS_ORIGINS is *", async () => {
    const answer = await preflight("/v1/commands", OTHER, "*")
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([204, "*"])
  })
})

describe("media behind links", () => {
  async function linkTo(): Promise<string> {
    const redirect = await caller.call(`/files/${file.id}/ten.txt`)
    return new URL(redirect.headers.get("location") ?? "").pathname
  }

  it("are readable for scripts of every page, with ranges and problems", async () => {
    const link = await linkTo()
    const headers = { range: "bytes=2-4" }
    const part = await send(link, { origin: OTHER, origins: "", headers })
    expect([part.status, await part.text()]).toEqual([206, "234"])
    const beyond = await send(link, { origin: OTHER, headers: { range: "bytes=99-" } })
    expect(beyond.status).toBe(416)
    for (const answer of [part, beyond, await send("/media/no/a", { origin: "null" })]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe("*")
      expect(listOf(answer, "access-control-expose-headers")).toContain("content-range")
    }
  })

  it("answer preflights of the headers that a redirected request keeps", async () => {
    const answer = await preflight(await linkTo(), OTHER, "")
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([204, "*"])
    expect(listOf(answer, "access-control-allow-headers")).toEqual(
      expect.arrayContaining(["authorization", "x-api-key", "range"]),
    )
  })

  it("behave the same once they are published", async () => {
    await caller.call(`/files/${file.id}/publish`, { method: "POST" })
    const answer = await send(`/public/1/${file.id}/ten.txt`, { origin: OTHER, origins: "" })
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"])
    await answer.body?.cancel()
    const plain = await fetchWorker(`/public/1/${file.id}/ten.txt`)
    expect(plain.headers.get("access-control-allow-origin")).toBe("*")
    await plain.body?.cancel()
  })
})
