import { Hono } from "hono"
import type { Env } from "../../env.ts"
import type { App } from "../../http/request.ts"
import { logError } from "../../log.ts"
import { readContainers } from "../../pipeline/upkeep/containers.ts"
import type { SlotContainer } from "../../pipeline/upkeep/containers.ts"
import { readServiceState } from "../../pipeline/upkeep/service-state.ts"
import type { ServiceState } from "../../pipeline/upkeep/service-state.ts"
import type { HealthPath } from "../../rpc.ts"

/**
 * How the service is, for programs of its operator; pages have it at /operate/health. With `attacks=all`
 * each runner that runs tries all attacks on its sandbox, once in its life.
 */
export const health = new Hono<App>()

health.get("/", async (c) => {
  const healthPath = c.req.query("attacks") === "all" ? "/health?attacks=all" : "/health"
  const state = await readServiceState(c.env, healthPath)
  const isPlain = state.runner !== null
  return c.json({
    reasons: state.reasons,
    /** The runner of one machine; null where runners are containers. */
    runner: state.runner,
    pools: await Promise.all(
      state.pools.map(async (pool) => ({
        ...viewPool(pool),
        containers: isPlain
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

function viewContainer({ slot, isRunning, problem, health: found }: SlotContainer) {
  return { slot, running: isRunning, problem, health: found }
}

/** None where the pool does not answer, which its `slots` say. */
async function findContainers(
  env: Env,
  pool: string,
  healthPath: HealthPath,
): Promise<SlotContainer[]> {
  try {
    return await readContainers(env, pool, healthPath)
  } catch (error) {
    logError("health.pool_lost", { pool, error })
    return []
  }
}
