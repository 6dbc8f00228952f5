import type { JsonKind } from "../kinds/kind.ts"
import { Problem } from "./problem.ts"

/**
 * Answers a create. Where its body is in the Job form, since its kind has no other or by fields that
 * this form alone has, all that is wrong with it is a 400 whose sentence names each field.
 */
export async function answerByForm<Value>(
  { isJobForm = false, jobFormFields = {} }: Pick<JsonKind, "isJobForm" | "jobFormFields">,
  body: object,
  answer: () => Promise<Value>,
): Promise<Value> {
  const ofJobForm = Object.entries(jobFormFields).filter(([name]) => Object.hasOwn(body, name))
  if (!isJobForm && ofJobForm.length === 0) return await answer()
  for (const [name, refusal] of ofJobForm) {
    if (refusal !== null) throw new Problem("invalid_request", `${name}: ${refusal}`)
  }
  try {
    return await answer()
  } catch (error) {
    throw error instanceof Problem ? inJobForm(error) : error
  }
}

/** A problem as the Job form tells it: it has no details. */
function inJobForm(problem: Problem): Problem {
  if (problem.code !== "unprocessable") return problem
  const { details = [], cause } = problem.facts
  const faults = details.map(({ field, message }) => `${field}: ${message}`)
  return new Problem("invalid_request", faults.join("; ") || problem.message, { cause })
}
