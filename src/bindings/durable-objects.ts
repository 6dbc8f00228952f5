import { getSettings } from "./env.ts"
import type { Env } from "./env.ts"
import type { DispatcherRpc, PoolRpc, RateLimiterRpc } from "./rpc.ts"

// This module returns stubs of Durable Objects. Each object is created in the location REGION and
// never moves.

/** Returns the dispatcher of an account, which queues the account's tasks. */
export function getDispatcher(env: Env, accountId: string): DurableObjectStub<DispatcherRpc> {
  return env.DISPATCHER.getByName(accountId, makeDurableObjectLocationOptions(env))
}

/** Returns the object that allocates the slots of a pool of runners. */
export function getPoolObject(env: Env, pool: string): DurableObjectStub<PoolRpc> {
  return env.POOL.getByName(pool, makeDurableObjectLocationOptions(env))
}

/**
 * Returns the object that runs the sweep of a database. Each database has its own object, because
 * D1 limits the statements of one invocation.
 */
export function getSweeper(env: Env, database: number): DurableObjectStub<PoolRpc> {
  return env.POOL.getByName(`database ${database}`, makeDurableObjectLocationOptions(env))
}

/**
 * Returns the rate limiter of an API key, named by the key's hash, or of a user, named by the
 * user's id.
 */
export function getRateLimiter(env: Env, name: string): DurableObjectStub<RateLimiterRpc> {
  return env.RATE_LIMITER.getByName(name, makeDurableObjectLocationOptions(env))
}

/**
 * Returns the location hint for new objects. Without `REGION`, Cloudflare creates an object near
 * its first caller.
 */
export function makeDurableObjectLocationOptions(
  env: Env,
): DurableObjectNamespaceGetDurableObjectOptions {
  const { REGION } = getSettings(env)
  return REGION === undefined ? {} : { locationHint: REGION }
}
