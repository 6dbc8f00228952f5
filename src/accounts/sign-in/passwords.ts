import { APIError } from "better-auth/api"
import { hashPassword, verifyPassword } from "better-auth/crypto"
import { PASSWORD_LENGTH_RANGE } from "./limits.ts"
import { authError } from "./auth-errors.ts"

/**
 * Lower bound for the measured duration of a scrypt hash, in milliseconds. A measurement can be too
 * low, because the clock of a Worker may stand still during the computation.
 */
const COST_MS_MIN = 100
const COST_MS_MAX = 250
const WAIT_MS_MAX = 10_000

const turns = makeCpuScheduler({ burstMs: 500, waitMsMax: WAIT_MS_MAX })
let costMs = COST_MS_MIN

/**
 * Password functions of better-auth. scrypt blocks the isolate, and on one machine the requests of
 * all callers. Hashing therefore takes at most half of the CPU time. Throws a 429 response if the
 * wait would be long.
 */
export const passwordHasher = {
  hash: async (password: string): Promise<string> => {
    return await inTurn(async () => await hashPassword(password))
  },
  verify: async (checked: { hash: string; password: string }): Promise<boolean> => {
    return await inTurn(async () => await verifyPassword(checked))
  },
}

/** Throws a 400 response with better-auth's codes if a new password is too short or too long. */
export function checkPasswordLength({ length }: string): void {
  const { min, max } = PASSWORD_LENGTH_RANGE
  if (length < min) throw authError("BAD_REQUEST", "PASSWORD_TOO_SHORT", "Password too short")
  if (length > max) throw authError("BAD_REQUEST", "PASSWORD_TOO_LONG", "Password too long")
}

/**
 * Runs a hash computation after the wait that the scheduler demands. The wait uses a timer: a
 * promise of another request never resolves if that request has ended.
 */
async function inTurn<Value>(compute: () => Promise<Value>): Promise<Value> {
  const waitMs = turns.take(Date.now(), costMs)
  if (waitMs === null) throw busy()
  if (waitMs > 0) await scheduler.wait(waitMs)
  const startedAt = Date.now()
  const computed = compute()
  // Hashing blocks the isolate before it returns its promise, so the time since `startedAt` is its
  // cost.
  costMs = Math.min(Math.max(Date.now() - startedAt, COST_MS_MIN), COST_MS_MAX)
  return await computed
}

function busy(): APIError {
  const message = "Too many users are signing in at the moment. Try again later."
  const headers = { "x-retry-after": `${WAIT_MS_MAX / 1000}` }
  return new APIError("TOO_MANY_REQUESTS", { code: "TOO_MANY", message }, headers)
}

/** Scheduler of computations that block the isolate. */
type CpuScheduler = {
  /**
   * Returns the wait before work of `costMs` may begin, in milliseconds, and reserves the CPU time.
   * Returns null if the wait would be too long.
   */
  take(now: number, costMs: number): number | null
}

/**
 * Returns a scheduler that delays work, so that the work takes half of the CPU time on average.
 * After an idle period, work of up to `burstMs` begins at once. Reserved CPU time cannot be
 * released.
 */
export function makeCpuScheduler({
  burstMs,
  waitMsMax,
}: Record<"burstMs" | "waitMsMax", number>): CpuScheduler {
  let freeAt = 0
  return {
    take(now, costMs) {
      const waitMs = Math.max(0, freeAt - now)
      if (waitMs > waitMsMax) return null
      freeAt = Math.max(freeAt, now - 2 * burstMs) + 2 * costMs
      return waitMs
    },
  }
}
