import { beforeAll, describe, expect, it } from "vitest"
import { EXAMPLE } from "../../src/kinds/fetch/request.ts"
import { scopeOf } from "../../src/http/operation.ts"
import { OPERATIONS } from "../../src/operations.ts"
import { SCOPES } from "../../src/scopes.ts"
import type { Scope } from "../../src/scopes.ts"
import { makeCaller } from "../support/caller.ts"
import type { Caller } from "../support/caller.ts"
import { knowMetadata } from "../support/fetched.ts"
import { sendExample } from "../support/operations.ts"
import { readProblem } from "../support/problem.ts"

const keyed = OPERATIONS.filter(({ isOpen }) => !isOpen)
const named = keyed.map((operation) => [operation.operationId, operation] as const)

/** Everything that does not need what its method says. */
const OTHERS: Record<string, Scope> = {
  getWebhookSecret: "admin",
  rotateWebhookSecret: "admin",
  listKeys: "admin",
  createKey: "admin",
  getKey: "admin",
  rotateKey: "admin",
  revokeKey: "admin",
  validateCommand: "read",
  postMetadata: "read",
}

const callers = new Map<Scope, Caller>()

beforeAll(async () => {
  for (const scope of SCOPES) {
    const caller = await makeCaller(`with ${scope}`, "trial", { scopes: [scope] })
    // Nobody looks pages up here, and who asks would wait for that.
    await knowMetadata(caller, EXAMPLE.url)
    callers.set(scope, caller)
  }
})

describe("an operation", () => {
  it.each(named)("%s needs what its method says, or what is named here", (name, operation) => {
    const byMethod = operation.method === "get" ? "read" : "write"
    expect(scopeOf(operation)).toBe(OTHERS[name] ?? byMethod)
  })

  it.each(named)(
    "%s is refused to keys without its scope, and to no others",
    async (_, operation) => {
      const needed = scopeOf(operation)
      const refused: Scope[] = []
      for (const [scope, { key }] of callers) {
        const answer = await sendExample(operation, operation.example, { "x-api-key": key })
        if (answer.status === 403) refused.push(scope)
        await answer.body?.cancel()
      }
      expect(refused).toEqual(SCOPES.slice(0, SCOPES.indexOf(needed)))
    },
  )

  const beyondReading = named.filter(([, operation]) => scopeOf(operation) !== "read")
  it.each(beyondReading)(
    "%s says which scope is missing, and how to get it",
    async (_, operation) => {
      const needed = scopeOf(operation)
      const key = callers.get("read")?.key ?? ""
      const answer = await sendExample(operation, operation.example, { "x-api-key": key })
      expect(answer.headers.get("www-authenticate")).toBe(
        `Bearer realm="lathe", error="insufficient_scope", scope="${needed}"`,
      )
      expect(answer.headers.get("ratelimit")).toMatch(/^"requests";r=\d+;t=\d+$/)
      const { code_name, message } = await readProblem(answer)
      expect(code_name).toBe("scope_missing")
      expect(message).toContain(`needs a key with the scope ${needed}; this one has read. Make one`)
    },
  )
})

it("a HEAD needs what its GET needs", async () => {
  const { call } = await makeCaller("head", "trial", { scopes: ["read"] })
  const head = { method: "HEAD" }
  const answers = [await call("/files", head), await call("/webhooks/secret", head)]
  expect(answers.map(({ status }) => status)).toEqual([200, 403])
})
