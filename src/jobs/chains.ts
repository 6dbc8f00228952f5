import type { Fault } from "../domain/faults.ts"
import type { AccountDatabase } from "../db/database.ts"
import { JOB_CHAIN_LENGTH_MAX, measureLongestJobChain } from "../db/files/input-files.ts"
import { isFinalState } from "../domain/states.ts"
import type { ResolvedInput } from "../kinds/kind.ts"

/** Returns the ids of the open jobs that still have to write inputs of a new job, each id once. */
export function listNeededJobIds(inputs: readonly Pick<ResolvedInput, "file">[]): string[] {
  return [...new Set(inputs.filter(isPending).flatMap(({ file }) => file?.jobId ?? []))]
}

/** Returns a fault if a new job with these inputs would make a chain of jobs too long. */
export async function findChainFaults(
  database: AccountDatabase,
  inputs: readonly ResolvedInput[],
): Promise<Fault[]> {
  const neededIds = listNeededJobIds(inputs)
  if (neededIds.length === 0) return []
  const length = 1 + (await measureLongestJobChain(database, neededIds))
  const first = inputs.find(isPending)
  return first && length > JOB_CHAIN_LENGTH_MAX ? [makeChainTooLongFault(first.field)] : []
}

/** Returns the fault of an input that makes a chain of jobs too long. */
export function makeChainTooLongFault(field: string): Fault {
  const message = `expected a chain of at most ${JOB_CHAIN_LENGTH_MAX} jobs that wait for each other: wait for the end of some of them, or do more in one job`
  return { field, code: "chain_too_long", message }
}

/** Reports whether an open job still has to write an input. */
function isPending({ file }: Pick<ResolvedInput, "file">): boolean {
  return file !== null && !isFinalState(file.state)
}
