import { runnerHealth } from "../../contract/runner-health.ts"
import type { RunnerHealth } from "../../contract/runner-health.ts"
import type { Env } from "../../env.ts"
import { poolObjectOf } from "../../placement.ts"
import type { HealthPath } from "../../rpc.ts"
import { inspectContainer } from "../../runner/client.ts"
import { POOLS } from "../../runner/pools.ts"

/** The container of a slot: whether it runs, why its last start failed, and its runner's health. */
export type SlotContainer = {
  slot: string
  isRunning: boolean
  problem: string | null
  health: RunnerHealth | null
}

/** The containers of a pool that run, and those whose last start failed; throws without an answer of the pool. */
export async function readContainers(
  env: Env,
  pool: string,
  healthPath: HealthPath = "/health",
): Promise<SlotContainer[]> {
  const slots = await poolObjectOf(env, pool).occupiedSlots()
  const found = await Promise.all(
    slots.map(async (slot) => await readContainer(env, slot, healthPath)),
  )
  return found.filter(({ isRunning, problem }) => isRunning || problem !== null)
}

async function readContainer(
  env: Env,
  slot: string,
  healthPath: HealthPath,
): Promise<SlotContainer> {
  try {
    const { isRunning, problem, health } = await inspectContainer(env, slot, healthPath)
    if (!health) return { slot, isRunning, problem, health: null }
    if (health.status !== 200) return { slot, isRunning, problem: health.text, health: null }
    return { slot, isRunning, problem, health: runnerHealth.parse(JSON.parse(health.text)) }
  } catch (error) {
    return { slot, isRunning: false, problem: String(error), health: null }
  }
}

/** Announces to all pools that the plain runner, which does the tasks of each, has a new process. */
export async function announceRunner(env: Env, boot: string): Promise<void> {
  const pools = Object.keys(POOLS)
  const told = pools.map((pool) => poolObjectOf(env, pool).runnerStarted(boot))
  // All are told before a failure of one has the runner's announcement repeated.
  const failed = (await Promise.allSettled(told)).find(({ status }) => status === "rejected")
  if (failed) await Promise.all(told)
}
