import type { Fault } from "../domain/faults.ts"
import type { AccountDatabase } from "../db/database.ts"
import { CHAIN_LENGTH_MAX, measureLongestChain } from "../db/files/input-files.ts"
import { isFinalState } from "../domain/states.ts"
import type { ResolvedInput } from "../kinds/kind.ts"

/** Returns the ids of the open jobs that still have to write inputs of a new job, each id once. */
export function listNeededJobIds(inputs: readonly ResolvedInput[]): string[] {
  return [...new Set(listPending(inputs).map(({ jobId }) => jobId))]
}

/** Returns a fault if a new job with these inputs would make a chain of jobs too long. */
export async function findChainFaults(
  database: AccountDatabase,
  inputs: readonly ResolvedInput[],
): Promise<Fault[]> {
  const neededIds = listNeededJobIds(inputs)
  if (neededIds.length === 0) return []
  const length = 1 + (await measureLongestChain(database, neededIds))
  const [first] = listPending(inputs)
  return first && length > CHAIN_LENGTH_MAX ? [chainTooLongFault(first.field)] : []
}

/** Returns the fault of an input that makes a chain of jobs too long. */
export function chainTooLongFault(field: string): Fault {
  const message = `expected a chain of at most ${CHAIN_LENGTH_MAX} jobs that wait for each other: wait for the end of some of them, or do more in one job`
  return { field, code: "chain_too_long", message }
}

/** Returns the inputs that open jobs still have to write, with the ids of these jobs. */
function listPending(inputs: readonly ResolvedInput[]): { field: string; jobId: string }[] {
  return inputs.flatMap(({ field, file }) => {
    return file && !isFinalState(file.state) ? [{ field, jobId: file.jobId }] : []
  })
}
