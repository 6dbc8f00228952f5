import { clientNetworkOf } from "../client-network.ts"
import type { Env } from "../env.ts"
import { remember } from "../recent.ts"
import { directoryOf } from "../storage/database.ts"
import { countTry } from "../storage/sign-in-tries.ts"
import { TRIES_WINDOW_MS } from "./limits.ts"
import type { AuthRoute } from "./limits.ts"

/** Addresses whose refusals an isolate remembers, so that these cost no look-up. */
const REFUSALS_MAX = 10_000

const refusals = remember<number>(REFUSALS_MAX)

/**
 * Counts a request to a route for its address. Answers null where the address may make it, else in how
 * many seconds it may make the next one. Requests of no known address count together.
 */
export async function takeTry(
  env: Env,
  headers: Headers,
  { path, triesMax }: AuthRoute,
): Promise<number | null> {
  const network = clientNetworkOf(headers) ?? "unknown"
  const name = `${network} ${path}`
  const now = Date.now()
  const known = refusals.get(name)
  if (known !== null) return secondsUntil(known, now)
  const rule = { triesMax, windowMs: TRIES_WINDOW_MS }
  const opensAt = await countTry(directoryOf(env), { network, path, now }, rule)
  if (opensAt === null) return null
  refusals.set(name, opensAt, opensAt)
  return secondsUntil(opensAt, now)
}

function secondsUntil(moment: number, now: number): number {
  return Math.max(1, Math.ceil((moment - now) / 1000))
}
