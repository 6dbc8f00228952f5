import type { Context } from "hono"
import { createMiddleware } from "hono/factory"
import { Problem, unprocessable } from "../http/problem.ts"
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

/** What a form sent; 422 where its body is none. */
export async function parseForm(c: Pick<Context, "req">): Promise<FormData> {
  return await c.req.formData().catch((error: unknown) => {
    throw error instanceof TypeError ? unprocessable("body", "it is not a form", error) : error
  })
}

/** The texts that a form sent, by field; of a field that was sent twice the last one. */
export async function readForm(c: Pick<Context, "req">): Promise<Readonly<Record<string, string>>> {
  const texts: [string, string][] = []
  for (const [name, value] of await parseForm(c)) {
    if (typeof value === "string") texts.push([name, value])
  }
  return Object.fromEntries(texts)
}
