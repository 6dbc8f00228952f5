import { missingTools, runnerHealth } from "../../contract/runner-health.ts"
import type { MissingTool } from "../../contract/runner-health.ts"
import type { Env } from "../../env.ts"
import { isPlain, readPlainHealth } from "../../runner/client.ts"

/** What is installed changes seldom. */
const KNOWN_MS = 5000
/** A create waits no longer to learn it. */
const ANSWER_MS_MAX = 500

/** Values only: workerd lets no request wait for a promise of another. */
const known = new WeakMap<object, { at: number; missing: MissingTool[] }>()

/**
 * The tools that no runner has. Containers have all, by their image; what the plain runner does not
 * say in time counts as there.
 */
export async function findMissingTools(env: Env): Promise<MissingTool[]> {
  if (!isPlain(env)) return []
  const last = known.get(env)
  if (last && Math.abs(Date.now() - last.at) < KNOWN_MS) return last.missing
  const health = runnerHealth.safeParse(await readPlainHealth(env, "/health", ANSWER_MS_MAX)).data
  const missing = health ? missingTools(health) : []
  known.set(env, { at: Date.now(), missing })
  return missing
}
