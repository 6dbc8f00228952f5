import { APIError } from "better-auth/api"
import { hashPassword, verifyPassword } from "better-auth/crypto"
import { PASSWORD_CHARACTERS } from "./limits.ts"
import { refusal } from "./refusal.ts"
import { makeTurns } from "./turns.ts"

/** What a hash (scrypt) is taken to cost at least: a clock may stand still while it is computed. */
const COST_MS_MIN = 100
const COST_MS_MAX = 250
const WAIT_MS_MAX = 10_000

const turns = makeTurns({ burstMs: 500, waitMsMax: WAIT_MS_MAX })
let costMs = COST_MS_MIN

/**
 * Hashes and checks passwords half of the time at most: nothing else goes on in the isolate
 * meanwhile, on one machine no request of any caller. What would wait for long is refused with 429.
 */
export const passwords = {
  hash: async (password: string): Promise<string> => {
    return await inTurn(async () => await hashPassword(password))
  },
  verify: async (checked: { hash: string; password: string }): Promise<boolean> => {
    return await inTurn(async () => await verifyPassword(checked))
  },
}

/** Throws a 400 for a new password that is too short or too long, with better-auth's codes. */
export function judgeNewPassword({ length }: string): void {
  const { min, max } = PASSWORD_CHARACTERS
  if (length < min) throw refusal("BAD_REQUEST", "PASSWORD_TOO_SHORT", "Password too short")
  if (length > max) throw refusal("BAD_REQUEST", "PASSWORD_TOO_LONG", "Password too long")
}

/** Waits for a time and for no other request, which may be gone by then. */
async function inTurn<Value>(compute: () => Promise<Value>): Promise<Value> {
  const waitMs = turns.take(Date.now(), costMs)
  if (waitMs === null) throw busy()
  if (waitMs > 0) await scheduler.wait(waitMs)
  const startedAt = Date.now()
  const computed = compute()
  // What went by until here is what nothing else could go on in.
  costMs = Math.min(Math.max(Date.now() - startedAt, COST_MS_MIN), COST_MS_MAX)
  return await computed
}

function busy(): APIError {
  const message = "Too many sign in at the moment. Please try again later."
  const headers = { "x-retry-after": `${WAIT_MS_MAX / 1000}` }
  return new APIError("TOO_MANY_REQUESTS", { code: "TOO_MANY", message }, headers)
}
