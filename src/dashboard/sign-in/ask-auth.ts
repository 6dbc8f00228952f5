import type { Context } from "hono"
import { z } from "zod"
import { answerAuth } from "../../auth/answer.ts"
import { AUTH_PATH } from "../../auth/auth.ts"
import type { BodyPath } from "../../auth/bodies.ts"
import { publicOrigin } from "../../http/request.ts"
import type { App } from "../../http/request.ts"

/** What better-auth answered: its body, or why it refuses. */
export type AuthAnswer = { ok: true; body: unknown } | { ok: false; refusal: Refusal }

export type Refusal = { status: 403 | 422 | 429; code: string; message: string }

/** Headers by which better-auth knows the caller, and whether a page of this service asks. */
const CARRIED = [
  "cf-connecting-ip",
  "cookie",
  "origin",
  "referer",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "user-agent",
]

const refused = z.object({
  code: z.string().default(""),
  message: z.string().default("That did not work."),
})

/** Asks a route of sign-in as the caller of a page; the caller gets its cookies. */
export async function askAuth<Known extends App>(
  c: Context<Known>,
  path: BodyPath,
  json: Record<string, string | boolean>,
  own: Record<string, string> = {},
): Promise<AuthAnswer> {
  const origin = publicOrigin(c)
  const headers = new Headers()
  for (const name of CARRIED) {
    const value = c.req.header(name)
    if (value !== undefined) headers.set(name, value)
  }
  for (const [name, value] of Object.entries(own)) headers.set(name, value)
  headers.set("content-type", "application/json")
  const init = { headers, method: "POST", body: JSON.stringify(json) }
  const request = new Request(`${origin}${AUTH_PATH}${path}`, init)
  const answer = await answerAuth(c.env, origin, request)
  if (!answer) throw new Error(`${path} is no route of better-auth that is mounted`)
  for (const cookie of answer.headers.getSetCookie()) {
    c.header("set-cookie", cookie, { append: true })
  }
  const body: unknown = await answer.json().catch(() => null)
  if (answer.ok) return { ok: true, body }
  return { ok: false, refusal: refusalOf(c, answer, body) }
}

function refusalOf(c: Pick<Context, "header">, answer: Response, body: unknown): Refusal {
  const { code, message } = refused.catch(refused.parse({})).parse(body)
  if (answer.status === 429) {
    const seconds = answer.headers.get("retry-after") ?? "60"
    c.header("retry-after", seconds)
    return { status: 429, code: "TOO_MANY", message: `Try again in ${seconds} seconds.` }
  }
  if (answer.status >= 500) throw new Error(`better-auth answered with status ${answer.status}`)
  return { status: answer.status === 403 ? 403 : 422, code, message }
}
