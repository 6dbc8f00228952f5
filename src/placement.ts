import { settingsOf } from "./env.ts"
import type { Env } from "./env.ts"
import type { DispatcherRpc, PoolRpc, RateLimiterRpc } from "./rpc.ts"

// The one door to objects that work together: each is made where REGION says, since an object stays
// where its first call made it.

/** Queues the tasks of an account. */
export function dispatcherOf(env: Env, accountId: string): DurableObjectStub<DispatcherRpc> {
  return env.DISPATCHER.getByName(accountId, placeOf(env))
}

/** Owns the slots of a pool of runners. */
export function poolObjectOf(env: Env, pool: string): DurableObjectStub<PoolRpc> {
  return env.POOL.getByName(pool, placeOf(env))
}

/** Sweeps a database: an object for each, so that its statements are counted by themselves. */
export function sweeperOf(env: Env, database: number): DurableObjectStub<PoolRpc> {
  return env.POOL.getByName(`database ${database}`, placeOf(env))
}

/** Counts the requests of a key, by its hash, or of a user, by `userLimiterName`. */
export function limiterOf(env: Env, name: string): DurableObjectStub<RateLimiterRpc> {
  return env.RATE_LIMITER.getByName(name, placeOf(env))
}

/** Where an object is to be made; where its first caller is, if the settings name no region. */
export function placeOf(env: Env): DurableObjectNamespaceGetDurableObjectOptions {
  const { REGION } = settingsOf(env)
  return REGION === undefined ? {} : { locationHint: REGION }
}
