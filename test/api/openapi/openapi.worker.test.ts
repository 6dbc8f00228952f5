import { describe, expect, it } from "vitest"
import { makeOpenApiDocument } from "../../../src/api/output/openapi.ts"
import { OPERATIONS } from "../../../src/api/routes/operations.ts"
import { fetchWorker } from "../../support/caller.ts"

describe("GET /v1/openapi.json", () => {
  it("answers the document without a key, also for other origins", async () => {
    const answer = await fetchWorker("/v1/openapi.json")
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("application/json")
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(makeOpenApiDocument(OPERATIONS))))
  })
})
