import { runnerHealthSchema } from "../contract/runner-health.ts"
import type { RunnerHealth } from "../contract/runner-health.ts"
import type { Env } from "../bindings/env.ts"
import { getPoolObject } from "../bindings/durable-objects.ts"
import type { RunnerHealthPath } from "../bindings/rpc.ts"
import { inspectContainer } from "../runner/client.ts"
import { POOLS } from "../bindings/pools.ts"

/**
 * Health of the container of a slot: whether the container runs, the failure of the container's
 * last start, and the health of its runner.
 */
export type SlotContainerHealth = {
  slot: string
  isRunning: boolean
  problem: string | null
  health: RunnerHealth | null
}

/**
 * Returns the containers of a pool that run or have a problem. Throws if the pool does not respond.
 */
export async function readContainersOfPool(
  env: Env,
  pool: string,
  healthPath: RunnerHealthPath = "/health",
): Promise<SlotContainerHealth[]> {
  const slots = await getPoolObject(env, pool).occupiedSlots()
  const results = await Promise.all(
    slots.map(async (slot) => await readContainer(env, slot, healthPath)),
  )
  return results.filter(({ isRunning, problem }) => isRunning || problem !== null)
}

async function readContainer(
  env: Env,
  slot: string,
  healthPath: RunnerHealthPath,
): Promise<SlotContainerHealth> {
  try {
    const { isRunning, problem, health } = await inspectContainer(env, slot, healthPath)
    if (!health) return { slot, isRunning, problem, health: null }
    if (health.status !== 200) return { slot, isRunning, problem: health.text, health: null }
    return { slot, isRunning, problem, health: runnerHealthSchema.parse(JSON.parse(health.text)) }
  } catch (error) {
    return { slot, isRunning: false, problem: String(error), health: null }
  }
}

/**
 * Informs all pools that the plain runner has a new process, because the plain runner runs tasks of
 * every pool.
 */
export async function reportRunnerStartToPools(env: Env, boot: string): Promise<void> {
  const pools = Object.keys(POOLS)
  const calls = pools.map((pool) => getPoolObject(env, pool).runnerStarted(boot))
  // Waits for the calls to all pools, then fails if a call failed, so that the runner reports its
  // start again.
  const failed = (await Promise.allSettled(calls)).find(({ status }) => status === "rejected")
  if (failed) await Promise.all(calls)
}
