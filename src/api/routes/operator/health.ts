import { Hono } from "hono"
import type { Env } from "../../../bindings/env.ts"
import type { AppEnv } from "../../context.ts"
import { logError } from "../../../platform/log.ts"
import { readContainersOfPool } from "../../../upkeep/inspect-containers.ts"
import type { SlotContainerHealth } from "../../../upkeep/inspect-containers.ts"
import { readServiceState } from "../../../upkeep/service-state.ts"
import type { ServiceState } from "../../../upkeep/service-state.ts"
import type { RunnerHealthPath } from "../../../bindings/rpc.ts"

/**
 * Operator route that returns the state of the service as JSON; the page /operate/health shows this
 * state. With `attacks=all`, each running runner tests its sandbox by all known attacks, once per
 * process.
 */
export const healthRoutes = new Hono<AppEnv>()

healthRoutes.get("/", async (c) => {
  const healthPath = c.req.query("attacks") === "all" ? "/health?attacks=all" : "/health"
  const state = await readServiceState(c.env, healthPath)
  const usesPlainRunner = state.runner !== null
  return c.json({
    reasons: state.reasons,
    /** Health of the runner process; null if runners are containers. */
    runner: state.runner,
    pools: await Promise.all(
      state.pools.map(async (pool) => ({
        ...viewPool(pool),
        containers: usesPlainRunner
          ? []
          : (await findContainers(c.env, pool.name, healthPath)).map(viewContainer),
      })),
    ),
    tasks: state.tasks.map(({ name: pool, state: word, count }) => ({ pool, state: word, count })),
    webhooks: state.deliveries,
    dead_letters: state.deadLetters,
  })
})

function viewPool(pool: ServiceState["pools"][number]) {
  const { name } = pool
  if (pool.slots === null) return { name, slots: null, used: null, waiting_accounts: null }
  return { name, slots: pool.slots, used: pool.used, waiting_accounts: pool.waitingAccounts }
}

function viewContainer({ slot, isRunning, problem, health: runner }: SlotContainerHealth) {
  return { slot, running: isRunning, problem, health: runner }
}

/** Returns the containers of a pool; empty if the pool does not respond. */
async function findContainers(
  env: Env,
  pool: string,
  healthPath: RunnerHealthPath,
): Promise<SlotContainerHealth[]> {
  try {
    return await readContainersOfPool(env, pool, healthPath)
  } catch (error) {
    logError("health.pool_lost", { pool, error })
    return []
  }
}
