import type { JsonKind } from "../kinds/kind.ts"
import { anyObject, isJson, readJson } from "./request.ts"
import type { AppContext } from "./request.ts"
import { Problem } from "./problem.ts"

type Forms = Pick<JsonKind, "isJobForm" | "jobFormFields">

/**
 * Notes in which form the body of a create is: the Job form, where its kind has no other, or where it has
 * fields that this form alone has.
 */
export function noteForm(c: AppContext, { jobFormFields = [] }: Forms, body: object): void {
  c.set(
    "isInJobForm",
    jobFormFields.some((name) => Object.hasOwn(body, name)),
  )
}

/**
 * A problem as the form of its create tells it: in the Job form all that is wrong with a request is a
 * 400 whose sentence names each field, and there are no details.
 */
export async function tellByForm(c: AppContext, kind: Forms, problem: Problem): Promise<Problem> {
  if (problem.code !== "unprocessable" || !(await isInJobForm(c, kind))) return problem
  const { details = [], cause } = problem.facts
  const faults = details.map(({ field, message }) => `${field}: ${message}`)
  return new Problem("invalid_request", faults.join("; ") || problem.message, { cause })
}

async function isInJobForm(c: AppContext, kind: Forms): Promise<boolean> {
  const { isJobForm = false, jobFormFields = [] } = kind
  if (isJobForm || jobFormFields.length === 0) return isJobForm
  // A bad query is told before the body is read.
  if (c.get("isInJobForm") === undefined && isJson(c)) noteForm(c, kind, await bodyOf(c))
  return c.get("isInJobForm") ?? false
}

/** The body of a request, empty where it is none of fields. */
async function bodyOf(c: AppContext): Promise<object> {
  try {
    return await readJson(c, anyObject)
  } catch (error) {
    if (error instanceof Problem) return {}
    throw error
  }
}
