import type { Context } from "hono"
import { z } from "zod"
import { serveAuthRoute } from "../../accounts/sign-in/serve-auth-route.ts"
import { AUTH_PATH } from "../../accounts/sign-in/auth.ts"
import type { AuthBodyPath } from "../../accounts/sign-in/bodies.ts"
import { getPublicOrigin } from "../../api/input/request.ts"
import type { AppEnv } from "../../api/context.ts"

/** Result of a call to better-auth: the response body, or the error. */
export type BetterAuthResult = { ok: true; body: unknown } | { ok: false; refusal: BetterAuthError }

/** Error of better-auth that a sign-in page shows. */
export type BetterAuthError = { status: 403 | 422 | 429; code: string; message: string }

/** Request headers that better-auth needs to identify the caller and to check the origin. */
const CARRIED = (
  "cf-connecting-ip cookie origin referer sec-fetch-dest " +
  "sec-fetch-mode sec-fetch-site user-agent"
).split(" ")

const refused = z.object({
  code: z.string().default(""),
  message: z.string().default("The request failed. Try again."),
})

/**
 * Calls a route of better-auth with the headers of the page's request, and sends the cookies of the
 * response to the browser.
 */
export async function callBetterAuth<Known extends AppEnv>(
  c: Context<Known>,
  path: AuthBodyPath,
  json: Record<string, string | boolean>,
  own: Record<string, string> = {},
): Promise<BetterAuthResult> {
  const origin = getPublicOrigin(c)
  const headers = new Headers()
  for (const name of CARRIED) {
    const value = c.req.header(name)
    if (value !== undefined) headers.set(name, value)
  }
  for (const [name, value] of Object.entries(own)) headers.set(name, value)
  headers.set("content-type", "application/json")
  const init = { headers, method: "POST", body: JSON.stringify(json) }
  const request = new Request(`${origin}${AUTH_PATH}${path}`, init)
  const answer = await serveAuthRoute(c.env, origin, request)
  if (!answer) throw new Error(`${path} is not a mounted route of better-auth`)
  for (const cookie of answer.headers.getSetCookie()) {
    c.header("set-cookie", cookie, { append: true })
  }
  const body: unknown = await answer.json().catch(() => null)
  if (answer.ok) return { ok: true, body }
  return { ok: false, refusal: refusalOf(c, answer, body) }
}

function refusalOf(c: Pick<Context, "header">, answer: Response, body: unknown): BetterAuthError {
  const { code, message } = refused.catch(refused.parse({})).parse(body)
  if (answer.status === 429) {
    const seconds = answer.headers.get("retry-after") ?? "60"
    c.header("retry-after", seconds)
    return { status: 429, code: "TOO_MANY", message: `Try again in ${seconds} seconds.` }
  }
  if (answer.status >= 500) throw new Error(`better-auth answered with status ${answer.status}`)
  return { status: answer.status === 403 ? 403 : 422, code, message }
}
