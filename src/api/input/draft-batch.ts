import type { Fault } from "../../domain/faults.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { toFileRow } from "../../db/jobs/create-job.ts"
import { JOB_CHAIN_LENGTH_MAX, measureLongestJobChain } from "../../db/files/input-files.ts"
import type { InputRows } from "../../db/files/input-files.ts"
import { makeChainTooLongFault, listNeededJobIds } from "../../jobs/chains.ts"
import type { JobWithOutputs } from "../../kinds/output-references.ts"
import type { AppContext } from "../context.ts"
import { invalidFieldsProblem } from "../output/problem.ts"
import type { BatchItem, ParsedBatch } from "./batch.ts"
import { requireJobTools } from "./required-tools.ts"

/**
 * Drafts the jobs of a batch (prepares their rows), each after the jobs whose outputs it reads.
 * Throws 422 with the faults of all jobs of the batch, including the faults in `earlier`.
 */
export async function draftBatchJobs(
  c: AppContext,
  { names, items, faults: earlier }: ParsedBatch,
  { batchId, rows }: { batchId: string; rows: InputRows },
): Promise<JobDraft[]> {
  const { ordered, unordered } = orderItems(items)
  const faults = [...earlier, ...findCircularFaults(unordered)]
  // Null means that the job is not drafted yet, or is invalid, so that its outputs are unknown.
  const batchJobs = new Map<string, JobWithOutputs | null>(names.map((name) => [name, null]))
  const lengths = await ChainLengths.read(c, rows)
  const drafts: JobDraft[] = []
  for (const item of [...ordered, ...unordered]) {
    const drafted = await item.draft({ rows, batchJobs })
    const found = "faults" in drafted ? drafted.faults : lengths.findFaults(item, drafted.draft)
    faults.push(...found.map((fault) => placeFault(item, fault)))
    if ("draft" in drafted) {
      const { job, files } = drafted.draft
      const { accountId } = c.get("database")
      const outputs = files.map((file) => toFileRow(accountId, file))
      batchJobs.set(item.name, { id: job.id, kind: job.kind, files: outputs })
      drafts.push({ ...drafted.draft, job: { ...job, batchId, batchName: item.name } })
    }
  }
  if (faults.length > 0) throw invalidFieldsProblem(faults)
  for (const draft of drafts) await requireJobTools(c, draft)
  return drafts
}

/** Prefixes the field of a job's fault with the path of the job in the batch request. */
function placeFault({ name }: Pick<BatchItem, "name">, fault: Fault): Fault {
  const field = fault.field === "" ? `jobs.${name}` : `jobs.${name}.${fault.field}`
  return { ...fault, field }
}

/**
 * Sorts the jobs of a batch so that each job comes after the jobs whose outputs it reads. Jobs in a
 * dependency cycle, and jobs that depend on a cycle, are `unordered`.
 */
function orderItems(items: readonly BatchItem[]): {
  ordered: BatchItem[]
  unordered: BatchItem[]
} {
  const left = new Map(items.map((item) => [item.name, item]))
  const ordered: BatchItem[] = []
  for (;;) {
    const ready = [...left.values()].filter(
      ({ needs }) => !needs.some(({ name }) => left.has(name)),
    )
    if (ready.length === 0) return { ordered, unordered: [...left.values()] }
    for (const item of ready) {
      left.delete(item.name)
      ordered.push(item)
    }
  }
}

/** Returns a fault for each input by which a job depends on its own outputs. */
function findCircularFaults(unordered: readonly BatchItem[]): Fault[] {
  const byName = new Map(unordered.map((item) => [item.name, item]))
  return unordered.flatMap((item) =>
    item.needs.flatMap(({ name, field }) => {
      const path = findShortestPath(byName, name, item.name)
      if (path === null) return []
      const steps = path.map((needed, at) => `${path[at - 1] ?? item.name} needs ${needed}`)
      const message = `expected an output of a job that can start before this job, but the jobs wait in a circle: ${steps.join(", ")}`
      return [placeFault(item, { field, code: "circular_input", message })]
    }),
  )
}

/**
 * Returns the names of the jobs on the shortest dependency path, which starts with the job `from`
 * and ends with the job `to`; null if `from` does not depend on `to`.
 */
function findShortestPath(
  byName: ReadonlyMap<string, BatchItem>,
  from: string,
  to: string,
): string[] | null {
  const seen = new Set([from])
  const paths = [[from]]
  for (const path of paths) {
    const last = path.at(-1) ?? from
    if (last === to) return path
    for (const { name } of byName.get(last)?.needs ?? []) {
      if (!seen.has(name)) paths.push([...path, name])
      seen.add(name)
    }
  }
  return null
}

/**
 * Lengths of dependency chains: for each job of a batch, the number of jobs in the longest chain
 * that ends with the job.
 */
class ChainLengths {
  readonly #byJobId = new Map<string, number>()
  readonly #outside: number

  private constructor(outside: number) {
    this.#outside = outside
  }

  /**
   * Reads the length of the longest chain of open jobs outside the batch that end with a job on
   * which the batch depends.
   */
  static async read(c: AppContext, { files }: InputRows): Promise<ChainLengths> {
    const jobIds = listNeededJobIds(files.map((file) => ({ file })))
    const database = c.get("database")
    return new ChainLengths(
      jobIds.length === 0 ? 0 : await measureLongestJobChain(database, jobIds),
    )
  }

  /**
   * Records the length of the longest chain that ends with a job. Returns a fault if the chain is
   * too long.
   */
  findFaults({ needs }: Pick<BatchItem, "needs">, { job, neededJobIds = [] }: JobDraft): Fault[] {
    const before = neededJobIds.map((id) => this.#byJobId.get(id) ?? this.#outside)
    const length = 1 + Math.max(0, ...before)
    this.#byJobId.set(job.id, length)
    return length > JOB_CHAIN_LENGTH_MAX ? [makeChainTooLongFault(needs[0]?.field ?? "")] : []
  }
}
