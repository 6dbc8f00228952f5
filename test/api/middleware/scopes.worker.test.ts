import { beforeAll, describe, expect, it } from "vitest"
import { FETCH_EXAMPLE_REQUEST } from "../../../src/kinds/fetch/request.ts"
import { getRequiredScope } from "../../../src/api/output/operation.ts"
import { OPERATIONS } from "../../../src/api/routes/operations.ts"
import { SCOPES } from "../../../src/domain/scopes.ts"
import type { Scope } from "../../../src/domain/scopes.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { storeMetadataLookup } from "../../support/media/fetched.ts"
import { sendExampleRequest } from "../../support/operations.ts"
import { readProblem } from "../../support/problem.ts"

const keyed = OPERATIONS.filter(({ isOpen }) => !isOpen)
const named = keyed.map((operation) => [operation.operationId, operation] as const)

/** Operations whose scope differs from the default of their method. */
const OTHERS: Record<string, Scope> = {
  getWebhookSecret: "admin",
  rotateWebhookSecret: "admin",
  getWebhookEndpointSecret: "admin",
  rotateWebhookEndpointSecret: "admin",
  listKeys: "admin",
  createKey: "admin",
  getKey: "admin",
  rotateKey: "admin",
  revokeKey: "admin",
  validateCommand: "read",
  postMetadata: "read",
}

const callers = new Map<Scope, TestCaller>()

beforeAll(async () => {
  for (const scope of SCOPES) {
    const caller = await makeCaller(`with ${scope}`, "trial", { scopes: [scope] })
    // No runner looks pages up in these tests, and the request would wait for one.
    await storeMetadataLookup(caller, FETCH_EXAMPLE_REQUEST.url)
    callers.set(scope, caller)
  }
})

describe("an operation", () => {
  it.each(named)("%s needs the scope of its method, unless listed here", (name, operation) => {
    const byMethod = operation.method === "get" ? "read" : "write"
    expect(getRequiredScope(operation)).toBe(OTHERS[name] ?? byMethod)
  })

  it.each(named)("%s is refused to keys without its scope only", async (_, operation) => {
    const needed = getRequiredScope(operation)
    const refused: Scope[] = []
    for (const [scope, { key }] of callers) {
      const answer = await sendExampleRequest(operation, operation.example, { "x-api-key": key })
      if (answer.status === 403) refused.push(scope)
      await answer.body?.cancel()
    }
    expect(refused).toEqual(SCOPES.slice(0, SCOPES.indexOf(needed)))
  })

  const beyondReading = named.filter(([, operation]) => getRequiredScope(operation) !== "read")
  it.each(beyondReading)("%s names the missing scope and how to get it", async (_, operation) => {
    const needed = getRequiredScope(operation)
    const key = callers.get("read")?.key ?? ""
    const answer = await sendExampleRequest(operation, operation.example, { "x-api-key": key })
    expect(answer.headers.get("www-authenticate")).toBe(
      `Bearer realm="lathe", error="insufficient_scope", scope="${needed}"`,
    )
    expect(answer.headers.get("ratelimit")).toMatch(/^"requests";r=\d+;t=\d+$/)
    const { code_name, message } = await readProblem(answer)
    expect(code_name).toBe("scope_missing")
    expect(message).toContain(
      `needs a key with the scope ${needed}; this key has read. Create a key`,
    )
  })
})

it("a HEAD needs the scope of its GET", async () => {
  const { call } = await makeCaller("head", "trial", { scopes: ["read"] })
  const head = { method: "HEAD" }
  const answers = [await call("/files", head), await call("/webhooks/secret", head)]
  expect(answers.map(({ status }) => status)).toEqual([200, 403])
})
