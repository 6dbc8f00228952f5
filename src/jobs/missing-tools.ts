import { listMissingTools, runnerHealthSchema } from "../contract/runner-health.ts"
import type { MissingTool, RunnerHealth } from "../contract/runner-health.ts"
import type { Env } from "../bindings/env.ts"
import { usesPlainRunner, readPlainRunnerHealth } from "../runner/client.ts"

/** Validity of the cached list of tools, in milliseconds. The installed tools seldom change. */
const KNOWN_MS = 5000
/** Maximum wait of a request for the runner's health, in milliseconds. */
const ANSWER_MS_MAX = 500

/**
 * Cache of values instead of promises, because workerd lets no request wait for a promise of
 * another request.
 */
const cache = new WeakMap<object, { at: number; health: RunnerHealth | null }>()

/**
 * Returns the tools that the plain runner (a single process in place of containers) lacks. Returns
 * an empty list for containers, which have all tools, and if the runner does not respond in time.
 */
export async function findMissingTools(env: Env): Promise<MissingTool[]> {
  const health = await readCachedRunnerHealth(env)
  return typeof health === "string" ? [] : listMissingTools(health)
}

/**
 * Returns the health of the plain runner, which may be some seconds old. Returns `containers` if
 * containers run the tasks, because stopped containers report no health. Returns `silent` if the
 * runner did not respond in time.
 */
export async function readCachedRunnerHealth(
  env: Env,
): Promise<RunnerHealth | "containers" | "silent"> {
  if (!usesPlainRunner(env)) return "containers"
  const last = cache.get(env)
  if (last && Math.abs(Date.now() - last.at) < KNOWN_MS) return last.health ?? "silent"
  const answer = await readPlainRunnerHealth(env, "/health", ANSWER_MS_MAX)
  const health = runnerHealthSchema.safeParse(answer).data ?? null
  cache.set(env, { at: Date.now(), health })
  return health ?? "silent"
}
