import { describe, expect, it } from "vitest"
import { makeOpenApiDocument } from "../../../src/api/output/openapi.ts"
import { OPERATIONS } from "../../../src/api/routes/operations.ts"
import { fetchWorker } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"

describe("GET /v1/openapi.json", () => {
  it("answers the document without a key, also for other origins", async () => {
    const answer = await fetchWorker("/v1/openapi.json")
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("application/json")
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(makeOpenApiDocument(OPERATIONS))))
  })
})

describe("GET /docs", () => {
  it("is a page that shows the document", async () => {
    const answer = await fetchWorker("/docs")
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toMatch(/^text\/html\b/)
    expect(await answer.text()).toContain('data-url="/v1/openapi.json"')
  })

  it("allows no other method", async () => {
    for (const path of ["/docs", "/docs/errors/", "/docs/errors/internal"]) {
      const answer = await fetchWorker(path, { method: "POST" })
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"])
      expect((await readProblem(answer)).code_name).toBe("method_not_allowed")
    }
  })
})
