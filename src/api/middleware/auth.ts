import { createMiddleware } from "hono/factory"
import { findSignedInUser } from "../../accounts/sign-in/signed-in-user.ts"
import { hasApiKeyFormat, hashApiKey } from "../../platform/crypto/api-key.ts"
import { sha256 } from "../../platform/crypto/sha256.ts"
import { getSettings } from "../../bindings/env.ts"
import { computeEffectiveLimits } from "../../bindings/plan-limits.ts"
import { logError } from "../../platform/log.ts"
import { userLimiterName } from "../../bindings/rpc.ts"
import type { RateLimitResult, Caller } from "../../bindings/rpc.ts"
import { getRateLimiter } from "../../bindings/durable-objects.ts"
import { openAccountDatabases } from "../../db/database.ts"
import { getPublicOrigin } from "../input/request.ts"
import type { AppEnv, AppContext } from "../context.ts"
import { isWriteRequest, consumeRateLimit } from "./prefetch-requests.ts"
import { mayApiKeyExist, cacheAcceptedApiKey, recordRefusedApiKey } from "./key-check.ts"
import {
  describeMissingApiKey,
  describeMalformedApiKey,
  INVALID_KEY_MESSAGE,
} from "./key-advice.ts"
import { Problem } from "../output/problem.ts"
import { requireWithinRateLimit } from "./rate-limit.ts"

/** Authenticates a request by API key or session cookie, and counts it for the rate limit. */
export const authenticate = createMiddleware<AppEnv>(async (c, next) => {
  const { allowance, limiterName } = await identify(c)
  const { account, key } = allowance.caller
  c.set("account", account)
  c.set("key", key)
  c.set("limiterName", limiterName)
  c.set("limits", computeEffectiveLimits(account, getSettings(c.env)))
  c.set("database", openAccountDatabases(c.env, account.id))
  c.set("allowance", allowance)
  requireWithinRateLimit(allowance)
  if (account.isSuspended) throw new Problem("account_suspended", SUSPENDED_MESSAGE)
  await next()
})

const SUSPENDED_MESSAGE = "The account is suspended; ask the operator of this service."

/**
 * API requests that the dashboard makes within the Worker, with the signed-in user of each request.
 */
const dashboardRequests = new WeakMap<Request, { userId: string; caller: Caller }>()

/**
 * Marks an API request as sent by the dashboard for a signed-in user, so that the request needs no
 * API key.
 */
export function markDashboardRequest(request: Request, userId: string, caller: Caller): Request {
  dashboardRequests.set(request, { userId, caller })
  return request
}

/** Reports whether the dashboard sent an API request from within the Worker. */
export function isDashboardRequest(request: Request): boolean {
  return dashboardRequests.has(request)
}

type Identity = { allowance: RateLimitResult; limiterName: string }

async function identify(c: AppContext): Promise<Identity> {
  const key = readPresentedKey(c)
  if (key !== null) return await identifyKey(c, key)
  const user = dashboardRequests.get(c.req.raw) ?? (await findUser(c))
  if (!user) throw invalidTokenProblem(describeMissingApiKey(c))
  const limiterName = userLimiterName(user.userId)
  const { caller } = user
  const allowance = await callLimiter(() =>
    getRateLimiter(c.env, limiterName).takeFor(caller, { changes: isWriteRequest(c) }),
  )
  return { allowance, limiterName }
}

async function identifyKey(c: AppContext, key: string): Promise<Identity> {
  if (!hasApiKeyFormat(key)) throw invalidTokenProblem(describeMalformedApiKey(key))
  const hash = await hashApiKey(key)
  const check = { env: c.env, headers: c.req.raw.headers, key, hash }
  const allowance = await callLimiter(async () => {
    return (await mayApiKeyExist(check)) ? await consumeRateLimit(c, hash) : null
  })
  if (!allowance) {
    await recordRefusedApiKey(check)
    throw invalidTokenProblem(INVALID_KEY_MESSAGE)
  }
  cacheAcceptedApiKey(hash)
  return { allowance, limiterName: hash }
}

const RETRY_AFTER_SECONDS = 1

/** Calls a rate limiter; throws 503 if the limiter does not respond. */
async function callLimiter<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Problem) throw error
    logError("limiter.lost", { error: String(error) })
    throw new Problem(
      "unavailable",
      "The service cannot check the key at the moment; try again soon.",
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        headers: { "retry-after": `${RETRY_AFTER_SECONDS}` },
        cause: error,
      },
    )
  }
}

async function findUser(c: AppContext): Promise<{ userId: string; caller: Caller } | null> {
  const signedIn = await findSignedInUser(c.env, getPublicOrigin(c), c.req.raw.headers)
  if (!signedIn) return null
  if (!isSameOrigin(c)) {
    throw new Problem(
      "forbidden",
      "A session is valid only for pages of this service; send an API key.",
    )
  }
  return { userId: signedIn.user.id, caller: { account: signedIn.account, key: null } }
}

/** Reports whether a page of this service sent the request; always true for GET and HEAD. */
function isSameOrigin(c: AppContext): boolean {
  if (c.req.method === "GET" || c.req.method === "HEAD") return true
  return c.req.header("origin") === getPublicOrigin(c)
}

/**
 * Reports whether the caller of an open stream is still authorized: the API key is valid, or the
 * user is signed in and not suspended.
 */
async function isStillAuthorized(c: AppContext): Promise<boolean> {
  const hash = c.get("limiterName")
  if (c.get("key")) return await getRateLimiter(c.env, hash).isValid(hash)
  if (dashboardRequests.has(c.req.raw)) return true
  const user = await findUser(c)
  return user !== null && !user.caller.account.isSuspended
}

/**
 * Interval between key checks of an open stream, in milliseconds. The check finds a revoked key if
 * the message about the revocation was lost.
 */
const RECHECK_MS = 10_000

/** Yields values of an open stream until the caller is no longer authorized. */
export async function* yieldWhileAuthorized<Value>(
  c: AppContext,
  values: AsyncGenerator<Value>,
): AsyncGenerator<Value, void> {
  let next = values.next()
  let recheck = waitForRecheck(c)
  for (;;) {
    const isDue = await Promise.race([next.then(() => false), recheck.then(() => true)])
    if (!(await isStillAuthorized(c))) return
    if (isDue) {
      recheck = waitForRecheck(c)
      continue
    }
    const result = await next
    if (result.done) return
    yield result.value
    next = values.next()
  }
}

/**
 * Resolves when the API key of an open stream must be checked again. Never resolves for users, who
 * have no key.
 */
async function waitForRecheck(c: AppContext): Promise<void> {
  const limiter = getRateLimiter(c.env, c.get("limiterName"))
  if (c.get("key")) await limiter.untilForgotten(RECHECK_MS).catch(() => scheduler.wait(RECHECK_MS))
  else await new Promise(() => undefined)
}

/** Middleware that requires the operator's bearer token, the setting `OPERATOR_TOKEN`. */
export const authenticateOperator = requireToken("OPERATOR_TOKEN")

/**
 * Middleware that requires the bearer token `ANNOUNCE_TOKEN`, by which a runner announces its
 * start.
 */
export const authenticateRunnerStart = requireToken("ANNOUNCE_TOKEN")

/**
 * Returns middleware that requires the bearer token of a setting. Without the setting, the
 * middleware refuses every request.
 */
function requireToken(setting: "OPERATOR_TOKEN" | "ANNOUNCE_TOKEN") {
  return createMiddleware<AppEnv>(async (c, next) => {
    const { [setting]: expected } = getSettings(c.env)
    if (expected === undefined || !(await isEqualSecret(readBearerToken(c) ?? "", expected))) {
      throw invalidTokenProblem("The token of this route is missing or invalid.")
    }
    await next()
  })
}

/**
 * Reads the API key of a request from the headers, or else from the query. Throws 400 if two
 * headers hold different keys.
 */
function readPresentedKey(c: AppContext): string | null {
  const header = c.req.header("x-api-key") ?? null
  const token = readBearerToken(c)
  if (header !== null && token !== null && header !== token) {
    throw new Problem("invalid_request", "The request carries two different API keys.")
  }
  return header ?? token ?? c.req.query("key") ?? null
}

function readBearerToken(c: AppContext): string | null {
  return /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null
}

function invalidTokenProblem(message: string): Problem {
  return new Problem("invalid_token", message, {
    headers: { "www-authenticate": 'Bearer realm="lathe"' },
  })
}

async function isEqualSecret(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([sha256(one), sha256(other)])
  return crypto.subtle.timingSafeEqual(a, b)
}
