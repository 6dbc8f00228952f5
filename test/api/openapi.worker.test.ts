import { describe, expect, it } from "vitest"
import { describeOperations } from "../../src/http/openapi.ts"
import { OPERATIONS } from "../../src/operations.ts"
import { ask } from "../support/caller.ts"
import { readProblem } from "../support/problem.ts"

describe("GET /v1/openapi.json", () => {
  it("answers the document to whoever asks, also from other sites, without a key", async () => {
    const answer = await ask("/v1/openapi.json")
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("application/json")
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(describeOperations(OPERATIONS))))
  })
})

describe("GET /docs", () => {
  it("is a page that shows the document", async () => {
    const answer = await ask("/docs")
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toMatch(/^text\/html\b/)
    expect(await answer.text()).toContain('data-url="/v1/openapi.json"')
  })

  it("takes no other method", async () => {
    for (const path of ["/docs", "/docs/errors/", "/docs/errors/internal"]) {
      const answer = await ask(path, { method: "POST" })
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"])
      expect((await readProblem(answer)).code_name).toBe("method_not_allowed")
    }
  })
})
