import type { FailureCode } from "../../contract/failure.ts"
import { Problem, problemResponse, unprocessables } from "../../http/problem.ts"
import type { ProblemCode } from "../../http/problem.ts"
import { EXAMPLE_ID } from "../../ids.ts"
import type { JobRecord } from "../../kinds/job-record.ts"
import type { FaultCode } from "../../faults.ts"
import { ANSWERS, DETAILS, explainCode, FAILURES } from "./explained.ts"

/** The body of an answer with this code, as the interface makes it. */
export async function exampleAnswer(code: ProblemCode): Promise<object> {
  const { message, retryAfterSeconds } = explainCode(ANSWERS, code)
  if (code === "too_complex")
    return await bodyOf(unprocessables([{ field: "ffmpeg_command", code, message }]))
  if (code === "unprocessable")
    return await bodyOf(unprocessables([{ field: "file_url", message }]))
  const facts = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  return await bodyOf(new Problem(code, message, facts))
}

/** The body of a 422 that has this code in its details. */
export async function exampleRefusal(code: FaultCode): Promise<object> {
  const { field = "", option, message } = explainCode(DETAILS, code)
  const fault = { field, code, message, ...(option !== undefined && { option }) }
  return await bodyOf(unprocessables([fault]))
}

/** The record of a job that failed with this code. */
export function exampleJob(code: FailureCode): JobRecord {
  const { message } = explainCode(FAILURES, code)
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

async function bodyOf(problem: Problem): Promise<object> {
  return await problemResponse(problem, { requestId: EXAMPLE_ID, accept: "" }).json()
}
