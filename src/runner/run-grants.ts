import { openAccountDatabases } from "../db/database.ts"
import { findTaskInputObjectKey, findRunningTaskOutputKeys } from "../db/jobs/tasks.ts"
import type { IoContext } from "./io-context.ts"
import { GRANT_VALID_MS } from "./task-token.ts"

const RUNS_MAX = 1000

/**
 * Cached output keys of runs. With this cache, a run that stores many objects causes few reads of
 * D1.
 */
const grants = new Map<string, { at: number; outputs: string[] }>()

/**
 * Returns the R2 key of an input that a run may read. Returns null if the run may not read the
 * input.
 */
export async function findInputObjectKey(c: IoContext, key: string): Promise<string | null> {
  const { run, grant } = c.var
  const granted = grant && isFresh(grant) && Object.hasOwn(grant.inputs, key)
  if (granted) return grant.inputs[key] ?? null
  return await findTaskInputObjectKey(openAccountDatabases(c.env, run.accountId), run, key)
}

/**
 * Returns the keys of the outputs that a run may store under the R2 prefix of the run. Returns null
 * if the run no longer has its task.
 */
export async function findOutputKeysOfRun(c: IoContext): Promise<string[] | null> {
  const { run, grant } = c.var
  if (grant && isFresh(grant)) return grant.outputs
  const name = `${run.taskId}.${run.fence}`
  const last = grants.get(name)
  if (last && isFresh(last)) return last.outputs
  grants.delete(name)
  const outputs = await findRunningTaskOutputKeys(openAccountDatabases(c.env, run.accountId), run)
  if (outputs) grants.set(name, { at: Date.now(), outputs })
  for (const oldest of grants.keys()) {
    if (grants.size <= RUNS_MAX) break
    grants.delete(oldest)
  }
  return outputs
}

/**
 * Reports whether cached data from D1 is recent enough to be used. Uses the absolute age, so that a
 * clock that was set back does not prolong the use.
 */
function isFresh({ at }: { at: number }): boolean {
  return Math.abs(Date.now() - at) < GRANT_VALID_MS
}
