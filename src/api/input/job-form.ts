import type { JsonKind } from "../../kinds/kind.ts"
import { anyObjectSchema, isJsonRequest, readJsonBody } from "./request.ts"
import type { AppContext } from "../context.ts"
import { Problem } from "../output/problem.ts"

type JobFormRules = Pick<JsonKind, "isJobForm" | "jobFormFields">

/**
 * Records in the context whether the body of a create request has a field that only the Job form
 * has. The response to this form is a Job, and invalid fields cause a 400.
 */
export function recordJobFormUse(
  c: AppContext,
  { jobFormFields = [] }: JobFormRules,
  body: object,
): void {
  c.set(
    "isInJobForm",
    jobFormFields.some((name) => Object.hasOwn(body, name)),
  )
}

/**
 * Converts the validation error of a create request in the Job form: the 422 becomes a 400 whose
 * message names each invalid field. Returns other problems unchanged.
 */
export async function toJobFormProblem(
  c: AppContext,
  kind: JobFormRules,
  problem: Problem,
): Promise<Problem> {
  if (problem.code !== "unprocessable" || !(await isInJobForm(c, kind))) return problem
  const { details = [], cause } = problem.options
  const faults = details.map(({ field, message }) => `${field}: ${message}`)
  return new Problem("invalid_request", faults.join("; ") || problem.message, { details, cause })
}

async function isInJobForm(c: AppContext, kind: JobFormRules): Promise<boolean> {
  const { isJobForm = false, jobFormFields = [] } = kind
  if (isJobForm || jobFormFields.length === 0) return isJobForm
  // If the query parameters are invalid, the handler has not read the body, so read it here.
  if (c.get("isInJobForm") === undefined && isJsonRequest(c))
    recordJobFormUse(c, kind, await readBodyOrEmpty(c))
  return c.get("isInJobForm") ?? false
}

/** Returns the JSON body of a request; an empty object if the body is not a JSON object. */
async function readBodyOrEmpty(c: AppContext): Promise<object> {
  try {
    return await readJsonBody(c, anyObjectSchema)
  } catch (error) {
    if (error instanceof Problem) return {}
    throw error
  }
}
