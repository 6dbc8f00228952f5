import type { FailureCode } from "../../contract/failure.ts"
import { failureCodeSchema } from "../../contract/failure.ts"
import { FAULT_CODES_OF_REQUESTS_ONLY } from "../../domain/faults.ts"
import { OPERATIONS } from "../routes/operations.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import { EXAMPLE_ID } from "../../platform/ids.ts"
import { makeOpenApiDocument } from "./openapi.ts"
import {
  invalidFieldsProblem,
  isProblemCode,
  Problem,
  problemResponse,
  PROBLEMS,
} from "./problem.ts"

/** Example of an error in a page of docs/errors, from which the site builds a whole response. */
export type ErrorExample = {
  message: string
  field?: string | undefined
  option?: string | undefined
  retryAfterSeconds?: number | undefined
}

/**
 * Data for the documentation site: the OpenAPI document, and the codes of errors and failures.
 * scripts/site bundles this module; the Worker does not import it.
 */
export const documentationSiteData = {
  openapi: makeOpenApiDocument(OPERATIONS),
  answers: PROBLEMS,
  failures: failureCodeSchema.options,
  details: FAULT_CODES_OF_REQUESTS_ONLY,
}

/** Returns the body of an example error response with an error code. */
export async function makeExampleErrorBody(code: string, example: ErrorExample): Promise<unknown> {
  const { message, retryAfterSeconds } = example
  if (!isProblemCode(code)) throw new Error(`No answer has the code ${code}.`)
  if (code === "too_complex")
    return await bodyOf(invalidFieldsProblem([{ field: "ffmpeg_command", code, message }]))
  if (code === "unprocessable")
    return await bodyOf(invalidFieldsProblem([{ field: "file_url", message }]))
  const facts = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  return await bodyOf(new Problem(code, message, facts))
}

/** Returns the body of an example 422 response whose `details` contain a fault with a code. */
export async function makeExampleFaultBody(code: string, example: ErrorExample): Promise<unknown> {
  const { field = "", option, message } = example
  const known = FAULT_CODES_OF_REQUESTS_ONLY.find((each) => each === code)
  if (known === undefined) throw new Error(`No detail has the code ${code}.`)
  const fault = { field, code: known, message, ...(option !== undefined && { option }) }
  return await bodyOf(invalidFieldsProblem([fault]))
}

/** Returns an example record of a job that failed with a failure code. */
export function makeExampleFailedJob(code: FailureCode, { message }: ErrorExample): JobRecord {
  return {
    id: EXAMPLE_ID,
    kind: "command",
    status: "failed",
    created_at: "2026-11-22T09:00:00.000Z",
    outputs: [],
    progress: null,
    eta_seconds: null,
    attempts: 1,
    metadata: {},
    warnings: [],
    started_at: "2026-11-22T09:00:01.000Z",
    completed_at: "2026-11-22T09:00:09.000Z",
    error: { code, message },
  }
}

async function bodyOf(problem: Problem): Promise<unknown> {
  return await problemResponse(problem, { requestId: EXAMPLE_ID, accept: "" }).json()
}
