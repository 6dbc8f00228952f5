import { expect } from "vitest"
import { z } from "zod"
import { PROBLEMS } from "../../src/api/output/problem.ts"
import type { ProblemCode } from "../../src/api/output/problem.ts"

const code = z.custom<ProblemCode>((name) => typeof name === "string" && name in PROBLEMS)

const detail = z.strictObject({
  field: z.string(),
  message: z.string().min(1),
  code: z.string().min(1),
  option: z.string().optional(),
})

const shared = {
  message: z.string().min(1),
  details: z.array(detail),
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code_name: code,
  request_id: z.uuid(),
}

const problem = z.union([
  z.strictObject({
    error: z.strictObject({
      code,
      message: z.string(),
      retry_after: z.int().positive().optional(),
    }),
    code,
    ...shared,
  }),
  z.strictObject({
    error: z.literal("validation_error"),
    code: z.literal(422),
    ...shared,
    details: shared.details.min(1),
  }),
])

export type ProblemBody = Omit<z.infer<typeof problem>, "request_id">

/**
 * Checks that a response is an error with all required fields. Returns the error without the
 * request id, which differs between requests.
 */
export async function readProblem(answer: Response): Promise<ProblemBody> {
  const { request_id, ...body } = problem.parse(await answer.json())
  expect(request_id).toBe(answer.headers.get("x-request-id"))
  const { status, title } = PROBLEMS[body.code_name]
  expect([answer.status, body.status, body.title]).toEqual([status, status, title])
  expect(body.type).toBe(`/docs/errors/${body.code_name}`)
  expect(body.detail).toBe(body.message)
  if (body.error !== "validation_error") {
    expect([body.code, body.error.code]).toEqual([body.code_name, body.code_name])
    expect(body.error.message).toBe(body.message)
    const faults = body.details.map(({ field, message }) => `${field}: ${message}`)
    if (faults.length > 0) expect(body.message).toBe(faults.join("; "))
  }
  return body
}
