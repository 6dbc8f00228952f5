import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { app } from "../../../src/app.ts"
import { assembleApiKey } from "../../../src/platform/crypto/api-key.ts"
import { makeOpenApiDocument } from "../../../src/api/output/openapi.ts"
import type { Operation } from "../../../src/api/output/operation.ts"
import {
  isProblemCode,
  Problem,
  PROBLEMS,
  problemResponse,
} from "../../../src/api/output/problem.ts"
import { OPERATIONS } from "../../../src/api/routes/operations.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeOperationPath, sendExampleRequest } from "../../support/operations.ts"
import { readProblem } from "../../support/problem.ts"

/** Members of every error body, whatever its shape. */
const MEMBERS = "code code_name detail details error message request_id status title type".split(
  " ",
)

const schema = z.looseObject({ required: z.array(z.string()), properties: z.looseObject({}) })
const document = z
  .object({
    paths: z.record(
      z.string(),
      z.record(
        z.string(),
        z.looseObject({
          responses: z.record(
            z.string(),
            z.looseObject({
              description: z.string(),
              content: z
                .object({
                  "application/json": z.object({ schema: z.object({ $ref: z.string() }) }),
                })
                .optional()
                .catch(undefined),
            }),
          ),
        }),
      ),
    ),
    components: z.looseObject({
      schemas: z.looseObject({ Error: schema, ValidationError: schema }),
    }),
  })
  .parse(JSON.parse(JSON.stringify(makeOpenApiDocument(OPERATIONS))))

const named = OPERATIONS.map((operation) => [operation.operationId, operation] as const)
const keyed = named.filter(([, { isOpen }]) => !isOpen)

/** Returns the documented errors of an operation: their status, description and schema. */
function errorsOf({ path, method }: Operation) {
  const responses = Object.entries(document.paths[path]?.[method]?.responses ?? {})
  return responses
    .map(([status, response]) => ({ status: Number(status), ...response }))
    .filter(({ status }) => status >= 400)
}

describe("an error body", () => {
  it.each(named)("of %s has all members in the schema of every status", (_, operation) => {
    const errors = errorsOf(operation)
    expect(errors.length).toBeGreaterThan(1)
    for (const { status, content } of errors) {
      const reference = content?.["application/json"].schema.$ref.split("/").at(-1)
      expect([status, reference]).toEqual([status, status === 422 ? "ValidationError" : "Error"])
    }
    const { Error: plain, ValidationError: validation } = document.components.schemas
    for (const { required } of [plain, validation]) {
      expect(required.toSorted()).toEqual(MEMBERS)
    }
  })

  it.each(named)("of %s has all members for every documented code", async (_, operation) => {
    for (const { status, description } of errorsOf(operation)) {
      const codes = [...description.matchAll(/\/docs\/errors\/(\w+)/g)].map(([, code]) => code)
      expect(codes.length).toBeGreaterThan(0)
      for (const code of codes) expect(await readStatuses(code)).toEqual(new Set([status]))
    }
  })

  it("has all members for codes that no operation documents", async () => {
    for (const [code, { status }] of Object.entries(PROBLEMS)) {
      expect(await readStatuses(code)).toEqual(new Set([status]))
    }
  })
})

/** Reads the bodies of an error with this code, with and without faulty fields. */
async function readStatuses(code = ""): Promise<Set<number>> {
  if (!isProblemCode(code)) throw new Error(`there is no code ${code}`)
  const fault = { field: "name", message: "it is empty" }
  const requestId = crypto.randomUUID()
  const statuses = new Set<number>()
  for (const details of PROBLEMS[code].status === 422 ? [[fault]] : [[fault], []]) {
    const problem = new Problem(code, "name: it is empty", { details, retryAfterSeconds: 7 })
    const answer = problemResponse(problem, { requestId, accept: "" })
    answer.headers.set("x-request-id", requestId)
    const body = await readProblem(answer)
    expect(body.details).toEqual(details.map((each) => ({ ...each, code: "invalid_field" })))
    statuses.add(body.status)
  }
  return statuses
}

describe("beyond the rate limit", () => {
  let caller: TestCaller

  beforeAll(async () => {
    caller = await makeCaller("beyond the rate limit", "paid")
    for (let answer = await caller.call("/files"); answer.status === 200;) {
      answer = await caller.call("/files")
    }
  })

  it.each(keyed)("%s answers a whole error body", async (_, operation) => {
    const given = { "x-api-key": caller.key }
    const answer = await sendExampleRequest(operation, operation.example, given)
    const { code_name, error, details } = await readProblem(answer)
    expect([answer.status, code_name, details]).toEqual([429, "rate_limit_exceeded", []])
    expect(error).toMatchObject({ retry_after: Number(answer.headers.get("retry-after")) })
  })
})

describe("without a database that answers", () => {
  it.each(keyed)("%s answers a whole error body", async (_, operation) => {
    const path = makeOperationPath(operation, operation.example ?? {})
    const init = {
      method: operation.method.toUpperCase(),
      headers: { "x-api-key": assembleApiKey() },
    }
    const context = createExecutionContext()
    const request = new Request(`https://lathe.test${path}`, init)
    const answer = await app.fetch(request, { ...env, DB: silentDatabase() }, context)
    await waitOnExecutionContext(context)
    const { code_name, details } = await readProblem(answer)
    expect([answer.status, code_name, details]).toEqual([503, "unavailable", []])
  })
})

/** Returns a database whose every use fails. */
function silentDatabase(): typeof env.DB {
  return new Proxy(env.DB, {
    get() {
      return () => {
        throw new Error("D1 does not answer")
      }
    },
  })
}
