import type { Env } from "../../env.ts"
import { poolObjectOf } from "../../placement.ts"
import { POOLS } from "../../runner/pools.ts"

/** The plain runner, which does the tasks of every pool, has a new process. */
export async function announceRunner(env: Env, boot: string): Promise<void> {
  const pools = Object.keys(POOLS)
  const told = pools.map((pool) => poolObjectOf(env, pool).runnerStarted(boot))
  // All are told before a failure of one has the runner's announcement repeated.
  const failed = (await Promise.allSettled(told)).find(({ status }) => status === "rejected")
  if (failed) await Promise.all(told)
}
