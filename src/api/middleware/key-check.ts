import { isIssuedApiKey } from "../../platform/crypto/api-key.ts"
import { getSettings } from "../../bindings/env.ts"
import type { Env } from "../../bindings/env.ts"
import { logError } from "../../platform/log.ts"
import { openDirectory } from "../../db/database.ts"
import { findValidApiKey } from "../../db/accounts/keys.ts"
import { readClientNetwork } from "../../platform/client-network.ts"
import { Problem } from "../output/problem.ts"
import { makeBoundedCache } from "../../platform/bounded-cache.ts"

// This isolate caches accepted and refused API keys. Requests with unknown keys therefore never
// reach a rate limiter, and only a few of them cause a query of D1.

/**
 * Size of the cache of API keys that their rate limiter accepted. The limiter still checks each
 * request with a cached key.
 */
const ACCEPTED_KEYS_MAX = 10_000
const ACCEPTED_MS = 60_000

/** Size of the cache of refused API keys. A cached key is refused without a database query. */
const REFUSED_KEYS_MAX = 5_000
const REFUSED_MS = 10_000

const BLOCKED_NETWORKS_MAX = 5_000
/**
 * Time in seconds for which a network address with too many invalid keys is blocked; equals the
 * period of `REFUSED_KEYS` in wrangler.toml.
 */
export const ADDRESS_BLOCK_SECONDS = 60

/**
 * Maximum number of concurrent API key lookups for one network address, before any key counts as
 * refused.
 */
const CONCURRENT_LOOKUPS_MAX = 100

const acceptedKeys = makeBoundedCache<true>(ACCEPTED_KEYS_MAX)
const refusedKeys = makeBoundedCache<true>(REFUSED_KEYS_MAX)
/** End of the block of each blocked network address, in milliseconds since the epoch. */
const blockedNetworks = makeBoundedCache<number>(BLOCKED_NETWORKS_MAX)
const openLookups = new Map<string, number>()

type KeyCheck = { env: Env; headers: Headers; key: string; hash: string }

/**
 * Reports whether an API key may be valid, so that only its rate limiter can decide. Returns false
 * for a key that was refused recently, or that the database lacks. Throws 429 for an unknown key
 * from a blocked network address.
 */
export async function mayApiKeyExist({ env, headers, key, hash }: KeyCheck): Promise<boolean> {
  if (acceptedKeys.get(hash)) return true
  if (refusedKeys.get(hash)) return false
  if (await isIssuedApiKey(getSettings(env).LATHE_SECRET, key)) return true
  const network = readClientNetwork(headers)
  requireUnblocked(network)
  const found = await limitLookups(network, () =>
    findValidApiKey(openDirectory(env), hash, Date.now()),
  )
  return found !== null
}

/** Caches an API key that its rate limiter accepted. */
export function cacheAcceptedApiKey(hash: string): void {
  acceptedKeys.set(hash, true, Date.now() + ACCEPTED_MS)
}

/** Counts a refused API key; throws 429 if its network address sent too many invalid keys. */
export async function recordRefusedApiKey({
  env,
  headers,
  hash,
}: Omit<KeyCheck, "key">): Promise<void> {
  const now = Date.now()
  acceptedKeys.delete(hash)
  refusedKeys.set(hash, true, now + REFUSED_MS)
  const network = readClientNetwork(headers)
  if (network === null) return
  requireUnblocked(network)
  if (await consumeNetworkAddressLimit(env, network)) return
  const blockedUntil = now + ADDRESS_BLOCK_SECONDS * 1000
  blockedNetworks.set(network, blockedUntil, blockedUntil)
  requireUnblocked(network)
}

/**
 * Counts a request of a network address, and reports whether the address is within the limit of the
 * rate limiting binding `REFUSED_KEYS`. Returns true if the counter fails.
 */
export async function consumeNetworkAddressLimit(env: Env, key: string): Promise<boolean> {
  try {
    return (await env.REFUSED_KEYS.limit({ key })).success
  } catch (error) {
    logError("refused_keys.not_counted", { error: String(error) })
    return true
  }
}

function requireUnblocked(network: string | null): void {
  const blockedUntil = network === null ? null : blockedNetworks.get(network)
  if (blockedUntil !== null) throw tooManyInvalidKeys(Math.ceil((blockedUntil - Date.now()) / 1000))
}

async function limitLookups<Found>(
  network: string | null,
  find: () => Promise<Found>,
): Promise<Found> {
  if (network === null) return await find()
  const underWay = openLookups.get(network) ?? 0
  if (underWay >= CONCURRENT_LOOKUPS_MAX) throw tooManyInvalidKeys(1)
  openLookups.set(network, underWay + 1)
  try {
    return await find()
  } finally {
    const lookupsLeft = (openLookups.get(network) ?? 1) - 1
    if (lookupsLeft > 0) openLookups.set(network, lookupsLeft)
    else openLookups.delete(network)
  }
}

function tooManyInvalidKeys(seconds: number): Problem {
  return new Problem(
    "rate_limit_exceeded",
    `Your network address sent too many invalid keys; try again in ${seconds} seconds with a valid key.`,
    { retryAfterSeconds: seconds, headers: { "retry-after": `${seconds}` } },
  )
}
