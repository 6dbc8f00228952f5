import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { app } from "../../../src/app.ts"
import { makeCaller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"

/** Answers a fetch of a URL on a service with these settings. */
async function fetchWith(settings: Record<string, string>, url: string): Promise<Response> {
  const { key } = await makeCaller(crypto.randomUUID())
  const ctx = createExecutionContext()
  const headers = { "content-type": "application/json", "x-api-key": key }
  const request = new Request("https://lathe.test/v1/fetch", {
    method: "POST",
    headers,
    body: JSON.stringify({ url }),
  })
  const answer = await app.fetch(request, { ...env, ...settings }, ctx)
  await waitOnExecutionContext(ctx)
  return answer
}

it("refuses sites that the operator does not list", async () => {
  const sites = { FETCH_SITES: "a.example, b.example" }
  expect((await fetchWith(sites, "https://www.b.example/x")).status).toBe(202)
  const answer = await fetchWith(sites, "https://c.example/x")
  expect(answer.status).toBe(422)
  const [detail] = (await readProblem(answer)).details
  expect(detail).toMatchObject({ field: "url", code: "url_not_allowed" })
  expect(detail?.message).toContain("c.example")
})

it("allows private hosts that the operator lists, but never the service's own address", async () => {
  const hosts = { ALLOWED_PRIVATE_HOSTS: "127.0.0.1:8000" }
  expect((await fetchWith(hosts, "http://127.0.0.1:8000/")).status).toBe(202)
  expect((await fetchWith(hosts, "http://127.0.0.1:8001/")).status).toBe(422)
  const own = { ...hosts, PUBLIC_ORIGIN: "http://127.0.0.1:8000" }
  for (const host of ["127.0.0.1", "localhost", "0x7f.1"]) {
    const answer = await fetchWith(own, `http://${host}:8000/v1/files`)
    expect((await readProblem(answer)).message).toContain("this service")
  }
})
