import type { Context } from "hono"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"
import { z } from "zod"
import { publicOrigin } from "../http/request.ts"
import type { App } from "../http/request.ts"

const COOKIE = "lathe_flash"
const SECONDS_MAX = 60

const flash = z.object({ tone: z.enum(["good", "bad"]), message: z.string().max(500) })

/** A message that is shown once, on the next page. */
export type Flash = z.infer<typeof flash>

/** Answers a form: 303 to a page of the dashboard, which then shows a message once. */
export function redirectWith<Pages extends App>(
  c: Context<Pages>,
  path: `/${string}`,
  message: string,
  tone: Flash["tone"] = "good",
): Response {
  setCookie(c, COOKIE, JSON.stringify({ tone, message }), {
    ...cookieOf(c),
    httpOnly: true,
    sameSite: "Lax",
    maxAge: SECONDS_MAX,
  })
  return c.redirect(path, 303)
}

/** The message for this page, which no later one shows; null where there is none. */
export function takeFlash<Pages extends App>(c: Context<Pages>): Flash | null {
  const text = getCookie(c, COOKIE, cookieOf(c).prefix)
  if (text === undefined) return null
  deleteCookie(c, COOKIE, cookieOf(c))
  try {
    return flash.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** Attributes of the cookie; over https its name has the prefix `__Host-`. */
function cookieOf<Pages extends App>(c: Context<Pages>) {
  const isSecure = publicOrigin(c).startsWith("https:")
  return isSecure ? ({ path: "/", secure: true, prefix: "host" } as const) : { path: "/" }
}
