import type { Env } from "../../env.ts"
import { POOLS } from "../../runner/pools.ts"

/** The plain runner, which does the tasks of every pool, has a new process. */
export async function announceRunner(env: Env, boot: string): Promise<void> {
  const pools = Object.keys(POOLS)
  await Promise.all(pools.map((pool) => env.POOL.getByName(pool).runnerStarted(boot)))
}
