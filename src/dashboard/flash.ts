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
    httpOnly: true,
    sameSite: "Lax",
    secure: publicOrigin(c).startsWith("https:"),
    path: "/",
    maxAge: SECONDS_MAX,
  })
  return c.redirect(path, 303)
}

/** The message for this page, which no later one shows; null where there is none. */
export function takeFlash<Pages extends App>(c: Context<Pages>): Flash | null {
  const text = getCookie(c, COOKIE)
  if (text === undefined) return null
  deleteCookie(c, COOKIE, { path: "/" })
  try {
    return flash.parse(JSON.parse(text))
  } catch {
    return null
  }
}
