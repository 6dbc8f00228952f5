import { createMiddleware } from "hono/factory"
import { findSignedIn } from "../auth/session.ts"
import { hasKeyShape, hashKey } from "../crypto/api-key.ts"
import { sha256 } from "../crypto/sha256.ts"
import { limitsOf, settingsOf } from "../env.ts"
import { logError } from "../log.ts"
import { userLimiterName } from "../rpc.ts"
import type { Allowance, Caller } from "../rpc.ts"
import { limiterOf } from "../placement.ts"
import { databaseOf } from "../storage/database.ts"
import { publicOrigin } from "./request.ts"
import type { App, AppContext } from "./request.ts"
import { mayChange, takeAllowance } from "./allowances.ts"
import { mayBeKey, noteAccepted, noteRefused } from "./key-check.ts"
import { describeAbsent, describeMalformed, NOT_VALID } from "./key-advice.ts"
import { Problem } from "./problem.ts"
import { requireAllowance } from "./rate-limit.ts"

/** Lets a request on that a key or a session allows, as often as the plan of its account does. */
export const authenticate = createMiddleware<App>(async (c, next) => {
  const { allowance, limiterName } = await identify(c)
  const { account, key } = allowance.caller
  c.set("account", account)
  c.set("key", key)
  c.set("limiterName", limiterName)
  c.set("limits", limitsOf(account, settingsOf(c.env)))
  c.set("database", databaseOf(c.env, account.id))
  c.set("allowance", allowance)
  requireAllowance(allowance)
  if (account.isSuspended) throw new Problem("account_suspended", SUSPENDED)
  await next()
})

const SUSPENDED = "The account is suspended; ask the operator of this service."

/** Requests that the dashboard makes itself for a user whose session it has checked. */
const own = new WeakMap<Request, { userId: string; caller: Caller }>()

/** Marks a request of the dashboard's own as one of a user. */
export function actFor(request: Request, userId: string, caller: Caller): Request {
  own.set(request, { userId, caller })
  return request
}

/** Whether the dashboard made a request itself, in the course of one of a browser. */
export function isOwnRequest(request: Request): boolean {
  return own.has(request)
}

type Identified = { allowance: Allowance; limiterName: string }

async function identify(c: AppContext): Promise<Identified> {
  const key = presentedKey(c)
  if (key !== null) return await identifyKey(c, key)
  const user = own.get(c.req.raw) ?? (await findUser(c))
  if (!user) throw refused(describeAbsent(c))
  const limiterName = userLimiterName(user.userId)
  const { caller } = user
  const allowance = await unlessLost(() =>
    limiterOf(c.env, limiterName).takeFor(caller, { changes: mayChange(c) }),
  )
  return { allowance, limiterName }
}

async function identifyKey(c: AppContext, key: string): Promise<Identified> {
  if (!hasKeyShape(key)) throw refused(describeMalformed(key))
  const hash = await hashKey(key)
  const asked = { env: c.env, headers: c.req.raw.headers, key, hash }
  const allowance = await unlessLost(async () => {
    return (await mayBeKey(asked)) ? await takeAllowance(c, hash) : null
  })
  if (!allowance) {
    await noteRefused(asked)
    throw refused(NOT_VALID)
  }
  noteAccepted(hash)
  return { allowance, limiterName: hash }
}

const RETRY_AFTER_SECONDS = 1

/** What is known of a caller; 503 where nothing can be said. */
async function unlessLost<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Problem) throw error
    logError("limiter.lost", { error: String(error) })
    throw new Problem("unavailable", "Your key cannot be checked at the moment; ask again soon.", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      headers: { "retry-after": `${RETRY_AFTER_SECONDS}` },
      cause: error,
    })
  }
}

async function findUser(c: AppContext): Promise<{ userId: string; caller: Caller } | null> {
  const signedIn = await findSignedIn(c.env, publicOrigin(c), c.req.raw.headers)
  if (!signedIn) return null
  if (!isSameOrigin(c)) {
    throw new Problem("forbidden", "A session counts for pages of this service alone; send a key.")
  }
  return { userId: signedIn.user.id, caller: { account: signedIn.account, key: null } }
}

/** Whether a page of this service sent the request, as far as what it may change needs that. */
function isSameOrigin(c: AppContext): boolean {
  if (c.req.method === "GET" || c.req.method === "HEAD") return true
  return c.req.header("origin") === publicOrigin(c)
}

/** Whether who made the request may still do so: keys are revoked, users sign out, accounts end. */
async function isStillCaller(c: AppContext): Promise<boolean> {
  const hash = c.get("limiterName")
  if (c.get("key")) return await limiterOf(c.env, hash).isValid(hash)
  if (own.has(c.req.raw)) return true
  const user = await findUser(c)
  return user !== null && !user.caller.account.isSuspended
}

/** A revocation whose message was lost is found at the next look at it. */
const DOUBT_MS = 10_000

/** Values that come one by one, as long as who asked for them still is a caller. */
export async function* whileStillCaller<Value>(
  c: AppContext,
  values: AsyncGenerator<Value>,
): AsyncGenerator<Value, void> {
  let next = values.next()
  let doubt = untilDoubted(c)
  for (;;) {
    const isDoubted = await Promise.race([next.then(() => false), doubt.then(() => true)])
    if (!(await isStillCaller(c))) return
    if (isDoubted) {
      doubt = untilDoubted(c)
      continue
    }
    const result = await next
    if (result.done) return
    yield result.value
    next = values.next()
  }
}

/** Resolves when a caller's key may count no more; a user is asked for at each value alone. */
async function untilDoubted(c: AppContext): Promise<void> {
  const limiter = limiterOf(c.env, c.get("limiterName"))
  if (c.get("key")) await limiter.untilForgotten(DOUBT_MS).catch(() => scheduler.wait(DOUBT_MS))
  else await new Promise(() => undefined)
}

/** Lets the operator on: the bearer of the deployment's own token. */
export const authenticateOperator = requireToken("OPERATOR_TOKEN")

/** Lets the plain runner on, which has a token for its announcement alone. */
export const authenticateAnnouncement = requireToken("ANNOUNCE_TOKEN")

/** Lets the bearer of a token of the settings on; nobody where there is no such token. */
function requireToken(setting: "OPERATOR_TOKEN" | "ANNOUNCE_TOKEN") {
  return createMiddleware<App>(async (c, next) => {
    const { [setting]: expected } = settingsOf(c.env)
    if (expected === undefined || !(await isSame(bearer(c) ?? "", expected))) {
      throw refused("The token of this route is missing or not valid.")
    }
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

function refused(message: string): Problem {
  return new Problem("invalid_token", message, {
    headers: { "www-authenticate": 'Bearer realm="lathe"' },
  })
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([sha256(one), sha256(other)])
  return crypto.subtle.timingSafeEqual(a, b)
}
