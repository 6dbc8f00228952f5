import { env } from "cloudflare:workers"
import { expect } from "vitest"
import { z } from "zod"
import type { TestCaller } from "./caller.ts"
import type { InputForm } from "./inputs-with-headers.ts"

export const PRIVATE_FILE_URL = "https://media.example/private/film.mp4"

const problem = z.looseObject({
  message: z.string(),
  details: z.array(z.looseObject({ field: z.string(), message: z.string() })).optional(),
})

/**
 * Sends a request that must be refused. Returns its faults as `field: message; …`, for both formats
 * of errors.
 */
export async function readRefusalFaults(
  caller: TestCaller,
  form: InputForm,
  input: object,
): Promise<string> {
  const answer = await caller.post(form.path, form.body(input))
  expect(answer.status).toBe(form.refusal)
  const { message, details } = problem.parse(await answer.json())
  return details?.map((fault) => `${fault.field}: ${fault.message}`).join("; ") ?? message
}

/** Counts the rows with secrets of a job's tasks. */
export async function countTaskSecrets(jobId: string): Promise<number | null> {
  const query = "select count(*) as n from task_secrets where job_id = ?"
  return await env.DB.prepare(query).bind(jobId).first<number>("n")
}
