import { databaseOf } from "../storage/database.ts"
import { findInputObject, findOutputKeys } from "../storage/tasks.ts"
import type { IoContext } from "./io-context.ts"
import { RUN_KNOWN_MS } from "./token.ts"

const RUNS_MAX = 1000

/** Outputs of runs that D1 was asked for: one that stores many objects asks once in a while. */
const known = new Map<string, { at: number; outputs: string[] }>()

/** Where an input of a run is stored; null where the run may not read it. */
export async function inputObjectOf(c: IoContext, key: string): Promise<string | null> {
  const { run, grant } = c.var
  const granted = grant && isFresh(grant) && Object.hasOwn(grant.inputs, key)
  if (granted) return grant.inputs[key] ?? null
  return await findInputObject(databaseOf(c.env, run.accountId), run, key)
}

/** The keys of the outputs that a run may store below its own prefix; null where it may store none. */
export async function outputKeysOfRun(c: IoContext): Promise<string[] | null> {
  const { run, grant } = c.var
  if (grant && isFresh(grant)) return grant.outputs
  const name = `${run.taskId}.${run.fence}`
  const last = known.get(name)
  if (last && isFresh(last)) return last.outputs
  known.delete(name)
  const outputs = await findOutputKeys(databaseOf(c.env, run.accountId), run)
  if (outputs) known.set(name, { at: Date.now(), outputs })
  for (const oldest of known.keys()) {
    if (known.size <= RUNS_MAX) break
    known.delete(oldest)
  }
  return outputs
}

/** Also where the clock was set meanwhile, it is not known for longer. */
function isFresh({ at }: { at: number }): boolean {
  return Math.abs(Date.now() - at) < RUN_KNOWN_MS
}
