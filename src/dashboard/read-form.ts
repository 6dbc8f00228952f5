import type { Context } from "hono"
import { createMiddleware } from "hono/factory"
import { Problem, invalidFieldProblem, invalidFieldsProblem } from "../api/output/problem.ts"
import type { AppEnv } from "../api/context.ts"

const FORM_TYPES = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i

/**
 * Middleware that refuses a POST whose body is not a form. The CSRF check ignores other content
 * types, so a request with another type would pass.
 */
export const requireFormContentType = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === "POST" && !FORM_TYPES.test(c.req.header("content-type") ?? "")) {
    throw new Problem("unsupported_media_type", "A page accepts only forms.")
  }
  await next()
})

/** Maximum number of fields of a form; every form of the dashboard has fewer fields. */
const FIELDS_MAX = 300

/**
 * Returns the text fields of a submitted form by name; the last value of a repeated field counts.
 * Throws a 422 problem if the body is not a form or has too many fields.
 */
export async function readFormFields(
  c: Pick<Context, "req">,
): Promise<Readonly<Record<string, string>>> {
  const form = await c.req.formData().catch((error: unknown) => {
    throw error instanceof TypeError
      ? invalidFieldProblem("body", "the body is not a form", error)
      : error
  })
  const count = [...form.keys()].length
  if (count > FIELDS_MAX) {
    const message = `the form has ${count} fields; expected at most ${FIELDS_MAX}`
    throw invalidFieldsProblem([{ field: "body", code: "too_complex", message }])
  }
  const texts: [string, string][] = []
  for (const [name, value] of form) {
    if (typeof value === "string") texts.push([name, value])
  }
  return Object.fromEntries(texts)
}
