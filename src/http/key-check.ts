import { isOwnKey } from "../crypto/api-key.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { logError } from "../log.ts"
import { directoryOf } from "../storage/database.ts"
import { findKey } from "../storage/keys.ts"
import { clientNetworkOf } from "../client-network.ts"
import { Problem } from "./problem.ts"
import { remember } from "../recent.ts"

// Keys that nobody made cost no object, and hardly a look-up. What this isolate has seen counts here
// alone: another one sees it too.

/** Keys that had an object at their last request, which alone says whether they still count. */
const NAMED_MAX = 10_000
const NAMED_MS = 60_000

/** One that was refused is refused anew without a look-up. */
const REFUSED_MAX = 5_000
const REFUSED_MS = 10_000

/** An address that sent too many is told to wait as long as the limit of wrangler.toml looks back. */
const NETWORKS_MAX = 5_000
const SHUT_SECONDS = 60

/** Look-ups at once for one address, which may all be refused before the first of them is counted. */
const LOOK_UPS_MAX = 100

const named = remember<true>(NAMED_MAX)
const refused = remember<true>(REFUSED_MAX)
/** When an address is listened to again. */
const shut = remember<number>(NETWORKS_MAX)
const lookUps = new Map<string, number>()

type Asked = { env: Env; headers: Headers; key: string; hash: string }

/**
 * Whether an object may be asked of a key: not of one that nobody made. Throws a 429 for a key that is
 * not known to be one of this service where its address has sent too many that were refused.
 */
export async function mayBeKey({ env, headers, key, hash }: Asked): Promise<boolean> {
  if (named.get(hash)) return true
  if (refused.get(hash)) return false
  if (await isOwnKey(settingsOf(env).LATHE_SECRET, key)) return true
  const network = clientNetworkOf(headers)
  requireOpen(network)
  const found = await lookUp(network, () => findKey(directoryOf(env), hash, Date.now()))
  return found !== null
}

/** Notes that a key counts, which its object said. */
export function noteAccepted(hash: string): void {
  named.set(hash, true, Date.now() + NAMED_MS)
}

/** Counts a key that is refused; throws a 429 where its address has sent too many. */
export async function noteRefused({ env, headers, hash }: Omit<Asked, "key">): Promise<void> {
  const now = Date.now()
  named.delete(hash)
  refused.set(hash, true, now + REFUSED_MS)
  const network = clientNetworkOf(headers)
  if (network === null) return
  requireOpen(network)
  if (await isWithinLimit(env, network)) return
  const opensAt = now + SHUT_SECONDS * 1000
  shut.set(network, opensAt, opensAt)
  requireOpen(network)
}

async function isWithinLimit(env: Env, network: string): Promise<boolean> {
  try {
    return (await env.REFUSED_KEYS.limit({ key: network })).success
  } catch (error) {
    // The key is refused all the same.
    logError("refused_keys.not_counted", { error: String(error) })
    return true
  }
}

function requireOpen(network: string | null): void {
  const opensAt = network === null ? null : shut.get(network)
  if (opensAt !== null) throw tooMany(Math.ceil((opensAt - Date.now()) / 1000))
}

async function lookUp<Found>(network: string | null, find: () => Promise<Found>): Promise<Found> {
  if (network === null) return await find()
  const underWay = lookUps.get(network) ?? 0
  if (underWay >= LOOK_UPS_MAX) throw tooMany(1)
  lookUps.set(network, underWay + 1)
  try {
    return await find()
  } finally {
    const left = (lookUps.get(network) ?? 1) - 1
    if (left > 0) lookUps.set(network, left)
    else lookUps.delete(network)
  }
}

function tooMany(seconds: number): Problem {
  return new Problem(
    "rate_limit_exceeded",
    `Too many keys that are not valid came from your address; ask again in ${seconds} seconds, with a key of your account.`,
    { retryAfterSeconds: seconds, headers: { "retry-after": `${seconds}` } },
  )
}
