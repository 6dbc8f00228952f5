import { beforeAll, describe, expect, it } from "vitest"
import { assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import type { Operation } from "../../../src/api/output/operation.ts"
import { OPERATIONS } from "../../../src/api/routes/operations.ts"
import { fetchWorker, fetchOperatorRoute, makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import {
  findPathParameters,
  createExampleResources,
  makeOperationPath,
  makeExampleQuery,
  sendExampleRequest,
} from "../../support/operations.ts"
import { readProblem } from "../../support/problem.ts"

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
const PROBLEM_JSON = "application/problem+json"

const named = OPERATIONS.map((operation) => [operation.operationId, operation] as const)
const keyed = named.filter(([, { isOpen }]) => !isOpen)
const open = named.filter(([, { isOpen }]) => isOpen)
const ofMembers = keyed.filter(([, { path }]) => path.includes("{id}"))
const paths = [...Map.groupBy(OPERATIONS, ({ path }) => path)]

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("every operation")
})

/** Creates an account with a record of each type. */
async function makeOwner(name: string): Promise<TestCaller> {
  const owner = await makeCaller(name)
  await createExampleResources(owner)
  return owner
}

async function makeRevokedKey(): Promise<string> {
  const { id, key } = await makeCaller("revoked")
  await fetchOperatorRoute(`/keys/${id}`, { method: "DELETE" })
  return key
}

describe("the list of operations", () => {
  it("has operations of each type", () => {
    for (const some of [keyed, open, ofMembers, paths]) expect(some.length).toBeGreaterThan(1)
  })
})

describe("without a valid key", () => {
  let keys: (string | null)[]

  beforeAll(async () => {
    keys = [null, "", "lathe_short", assembleApiKey(), await makeRevokedKey()]
  })

  it.each(keyed)("%s is refused with 401", async (_, operation) => {
    for (const key of keys) {
      for (const accept of ["*/*", PROBLEM_JSON]) {
        const given = { accept, ...(key !== null && { "x-api-key": key }) }
        const answer = await sendExampleRequest(operation, operation.example, given)
        expect([key, answer.status]).toEqual([key, 401])
        expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="lathe"')
        expect(answer.headers.has("ratelimit")).toBe(false)
        const type = accept === PROBLEM_JSON ? PROBLEM_JSON : "application/json"
        expect(answer.headers.get("content-type")).toBe(type)
        expect(await readProblem(answer)).toMatchObject({
          code: "invalid_token",
          message: expect.stringMatching(
            /carries no API key|API key of the request is empty|API key is malformed|unknown, expired or revoked/,
          ),
        })
      }
    }
  })

  it.each(open)("%s answers", async (_, operation) => {
    for (const key of keys) {
      const answer = await sendExampleRequest(
        operation,
        {},
        key === null ? {} : { "x-api-key": key },
      )
      expect(answer.status).toBe(operation.answer.status)
      await answer.body?.cancel()
    }
  })
})

describe("another method of a path", () => {
  it.each(paths)("%s gets a 405 with the allowed methods", async (_, operations) => {
    const own = operations.map(({ method }) => method.toUpperCase())
    const allow = [...own, ...(own.includes("GET") ? ["HEAD"] : [])].toSorted().join(", ")
    const [operation] = operations
    if (!operation) throw new Error("a path without operations")
    const path = makeOperationPath(operation, operation.example ?? {})
    // OPTIONS describes the server of tus.
    const hasOptions = operations.some(({ requiredHeaders }) => requiredHeaders)
    const others = METHODS.filter((each) => !(hasOptions && each === "OPTIONS"))
    for (const method of others.filter((each) => !own.includes(each))) {
      const answer = await fetchWorker(path, { method, headers: { "x-api-key": caller.key } })
      expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, allow])
      expect(answer.headers.has("ratelimit")).toBe(!operation.isOpen)
      expect((await readProblem(answer)).code_name).toBe("method_not_allowed")
    }
  })
})

describe("an unknown query parameter", () => {
  it.each(named)("of %s is named in the answer", async (_, operation) => {
    const { method, example = {}, isJobForm = false } = operation
    const headers = { "x-api-key": caller.key, accept: PROBLEM_JSON }
    const query = makeExampleQuery(operation)
    query.set("nonsense", "1")
    const path = `${makeOperationPath(operation, example)}?${query.toString()}`
    const answer = await fetchWorker(path, { method: method.toUpperCase(), headers })
    expect(answer.status).toBe(isJobForm ? 400 : 422)
    expect(answer.headers.get("content-type")).toBe(PROBLEM_JSON)
    const { details, message } = await readProblem(answer)
    expect(message).toMatch(/^nonsense: unknown query parameter/)
    expect(details.map(({ field }) => field)).toEqual(["nonsense"])
  })
})

describe("a record of another account or of none", () => {
  let owner: TestCaller

  beforeAll(async () => {
    owner = await makeOwner("owner")
  })

  it.each(ofMembers)("is not found by %s, whether it exists or not", async (_, operation) => {
    expect(operation.errors).toContain("not_found")
    const theirs = await findPathParameters(owner, operation)
    const bodies = []
    for (const id of [theirs["id"] ?? "", crypto.randomUUID(), "no-id"]) {
      const answer = await sendExampleRequest(
        operation,
        { ...theirs, id },
        { "x-api-key": caller.key },
      )
      expect([id, answer.status]).toEqual([id, 404])
      bodies.push(await readProblem(answer))
    }
    expect(bodies[1]).toEqual(bodies[0])
    // A malformed id belongs to no account, so its message reveals nothing.
    expect(bodies[2]?.message).toContain("`no-id` is not an id")
    expect(await findPathParameters(owner, operation)).toMatchObject({ id: theirs["id"] })
  })
})

describe("an operation's own example", () => {
  it.each(named)("%s gets the documented answer", async (name, operation) => {
    const owner = await makeOwner(`owner of ${name}`)
    const parameters = await findPathParameters(owner, operation)
    const answer = await sendExampleRequest(operation, parameters, { "x-api-key": owner.key })
    const { facts, body, parsed } = await readSuccess(operation, answer)
    expect(facts).toEqual(promisedBy(operation))
    // Parsing drops members that the schema lacks.
    expect(parsed).toEqual(body)
  })

  const examples = named.flatMap(([name, { bodies = {} }]) =>
    Object.entries(bodies).map(([type, body]) => [name, type, body] as const),
  )
  it.each(examples)("%s: its %s fits its schema", (_, __, { schema, example }) => {
    expect(schema.safeParse(example).error).toBeUndefined()
  })

  const others = keyed.flatMap(([name, operation]) =>
    Object.keys(operation.bodies ?? {})
      .slice(1)
      .map((type) => [name, type, operation] as const),
  )
  it.each(others)("%s gets the documented answer for %s too", async (name, type, operation) => {
    const owner = await makeOwner(`other owner of ${name}`)
    const parameters = await findPathParameters(owner, operation)
    const answer = await sendExampleRequest(operation, parameters, { "x-api-key": owner.key }, type)
    const { facts, body, parsed } = await readSuccess(operation, answer)
    expect(facts).toEqual(promisedBy(operation))
    expect(parsed).toEqual(body)
  })

  const waiting = keyed.filter(([, { headers }]) => headers?.includes("Prefer"))
  it.each(waiting)("%s is answered at once with `Prefer: wait=0`", async (name, operation) => {
    const owner = await makeOwner(`waiter for ${name}`)
    const parameters = await findPathParameters(owner, operation)
    const given = { "x-api-key": owner.key, prefer: "wait=0" }
    const answer = await sendExampleRequest(operation, parameters, given)
    expect(answer.headers.get("preference-applied")).toBe("wait=0")
    const { facts, body, parsed } = await readSuccess(operation, answer)
    expect(facts).toEqual(promisedBy(operation))
    expect(parsed).toEqual(body)
  })

  const typed = keyed.filter(([, { errors }]) => errors?.includes("unsupported_media_type"))
  it.each(typed)("%s is refused under another media type", async (_, operation) => {
    const headers = { "x-api-key": caller.key, "content-type": "text/plain" }
    const path = makeOperationPath(operation, operation.example ?? {})
    const method = operation.method.toUpperCase()
    const answer = await fetchWorker(path, { method, headers, body: "{}" })
    expect([answer.status, (await readProblem(answer)).code_name]).toEqual([
      415,
      "unsupported_media_type",
    ])
  })
})

/** Returns the documented answer of an operation, without its body. */
function promisedBy({ answer, isOpen = false }: Operation) {
  const { status, schema, mediaType, headers = {} } = answer
  return {
    status,
    type: mediaType ?? (schema ? "application/json" : null),
    hasLocation: "Location" in headers,
    hasRequestId: true,
    tellsAllowance: !isOpen,
  }
}

/**
 * Returns the same properties of an answer; `parsed` is its body parsed by the operation's schema.
 */
async function readSuccess({ answer: { schema } }: Operation, answer: Response) {
  const { status, headers } = answer
  const body = schema ? await answer.json() : await answer.body?.cancel()
  return {
    facts: {
      status,
      type: headers.get("content-type")?.split(";")[0] ?? null,
      hasLocation: headers.get("location")?.startsWith("https://lathe.test/") ?? false,
      tellsAllowance: headers.has("ratelimit") && headers.has("ratelimit-policy"),
      hasRequestId: /^[0-9a-f-]{36}$/.test(headers.get("x-request-id") ?? ""),
    },
    body,
    parsed: schema?.parse(body),
  }
}
