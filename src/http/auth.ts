import { createMiddleware } from "hono/factory"
import { hasKeyShape, hashKey } from "../crypto/api-key.ts"
import { limitsOf, settingsOf } from "../env.ts"
import { databaseOf } from "../storage/database.ts"
import type { App, AppContext } from "./request.ts"
import { Problem } from "./problem.ts"
import { applyAllowance } from "./rate-limit.ts"

/**
 * Lets a request on with the account of its key, as often as its plan allows; the same refusal for
 * every key that is none.
 */
export const authenticate = createMiddleware<App>(async (c, next) => {
  const key = presentedKey(c)
  if (key === null || !hasKeyShape(key)) throw refused()
  const hash = await hashKey(key)
  const allowance = await c.env.RATE_LIMITER.getByName(hash).take(hash)
  if (!allowance) throw refused()
  const { account } = allowance
  c.set("account", account)
  c.set("keyHash", hash)
  c.set("limits", limitsOf(account.plan, settingsOf(c.env)))
  c.set("database", databaseOf(c.env, account.id))
  applyAllowance(c, allowance)
  await next()
})

/** Lets the operator on: the bearer of the deployment's own token. */
export const authenticateOperator = requireToken("OPERATOR_TOKEN")

/** Lets the plain runner on, which has a token for its announcement alone. */
export const authenticateAnnouncement = requireToken("ANNOUNCE_TOKEN")

/** Lets the bearer of a token of the settings on; nobody where there is no such token. */
function requireToken(setting: "OPERATOR_TOKEN" | "ANNOUNCE_TOKEN") {
  return createMiddleware<App>(async (c, next) => {
    const { [setting]: expected } = settingsOf(c.env)
    if (expected === undefined || !(await isSame(bearer(c) ?? "", expected))) throw refused()
    await next()
  })
}

/** The key of a request: a header wins over the query; two that differ are refused. */
function presentedKey(c: AppContext): string | null {
  const header = c.req.header("x-api-key") ?? null
  const token = bearer(c)
  if (header !== null && token !== null && header !== token) {
    throw new Problem("invalid_request", "The request carries two different API keys.")
  }
  return header ?? token ?? c.req.query("key") ?? null
}

function bearer(c: AppContext): string | null {
  return /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null
}

function refused(): Problem {
  return new Problem("invalid_token", "The API key is missing, invalid or revoked.", {
    headers: { "www-authenticate": 'Bearer realm="lathe"' },
  })
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([digest(one), digest(other)])
  return crypto.subtle.timingSafeEqual(a, b)
}

async function digest(text: string): Promise<ArrayBuffer> {
  return await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
}
