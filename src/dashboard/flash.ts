import type { Context } from "hono"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"
import { z } from "zod"
import { getPublicOrigin } from "../api/input/request.ts"
import type { AppEnv } from "../api/context.ts"

const COOKIE = "lathe_flash"
const SECONDS_MAX = 60

const flash = z.object({ tone: z.enum(["good", "bad"]), message: z.string().max(500) })

/** Message that the next page shows once. */
export type FlashMessage = z.infer<typeof flash>

/**
 * Redirects to a page of the dashboard by status 303 after a form was submitted. The page shows the
 * message once.
 */
export function redirectWithMessage<Pages extends AppEnv>(
  c: Context<Pages>,
  path: `/${string}`,
  message: string,
  tone: FlashMessage["tone"] = "good",
): Response {
  setCookie(c, COOKIE, JSON.stringify({ tone, message }), {
    ...cookieOf(c),
    httpOnly: true,
    sameSite: "Lax",
    maxAge: SECONDS_MAX,
  })
  return c.redirect(path, 303)
}

/**
 * Returns the message that this page shows, and deletes the message's cookie; null without a
 * message.
 */
export function takeFlashMessage<Pages extends AppEnv>(c: Context<Pages>): FlashMessage | null {
  const text = getCookie(c, COOKIE, cookieOf(c).prefix)
  if (text === undefined) return null
  deleteCookie(c, COOKIE, cookieOf(c))
  try {
    return flash.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/**
 * Returns the attributes of the message's cookie. Over HTTPS, the name of the cookie begins with
 * `__Host-`.
 */
function cookieOf<Pages extends AppEnv>(c: Context<Pages>) {
  const isSecure = getPublicOrigin(c).startsWith("https:")
  return isSecure ? ({ path: "/", secure: true, prefix: "host" } as const) : { path: "/" }
}
