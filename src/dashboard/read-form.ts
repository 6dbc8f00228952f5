import type { Context } from "hono"
import { createMiddleware } from "hono/factory"
import { Problem, unprocessable, unprocessables } from "../http/problem.ts"
import type { App } from "../http/request.ts"

const FORM_TYPES = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i

/**
 * Refuses what is sent to a page and is no form. The check of a form's origin looks at no body that
 * a form cannot have, so that it alone would let such a one on.
 */
export const requireForm = createMiddleware<App>(async (c, next) => {
  if (c.req.method === "POST" && !FORM_TYPES.test(c.req.header("content-type") ?? "")) {
    throw new Problem("unsupported_media_type", "A page takes forms alone.")
  }
  await next()
})

/** Fields that a form may have: more than any page sends. */
const FIELDS_MAX = 300

/**
 * The texts that a form sent, by field; of a field that was sent twice the last one. 422 where the
 * body is no form, or has too many fields.
 */
export async function readForm(c: Pick<Context, "req">): Promise<Readonly<Record<string, string>>> {
  const form = await c.req.formData().catch((error: unknown) => {
    throw error instanceof TypeError ? unprocessable("body", "it is not a form", error) : error
  })
  const count = [...form.keys()].length
  if (count > FIELDS_MAX) {
    const message = `the form has ${count} fields; expected at most ${FIELDS_MAX}`
    throw unprocessables([{ field: "body", code: "too_complex", message }])
  }
  const texts: [string, string][] = []
  for (const [name, value] of form) {
    if (typeof value === "string") texts.push([name, value])
  }
  return Object.fromEntries(texts)
}
