import type { Fault } from "../../domain/faults.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { toFileRow } from "../../db/jobs/create-job.ts"
import { CHAIN_LENGTH_MAX, measureLongestChain } from "../../db/files/input-files.ts"
import type { InputRows } from "../../db/files/input-files.ts"
import { chainTooLongFault } from "../../jobs/chains.ts"
import type { JobWithOutputs } from "../../kinds/output-references.ts"
import type { AppContext } from "../context.ts"
import { invalidFieldsProblem } from "../output/problem.ts"
import type { BatchItem } from "./batch.ts"
import { requireJobTools } from "./required-tools.ts"

/**
 * Drafts the jobs of a batch, each after the jobs whose outputs it reads. Throws 422 with the faults
 * of all creates, `earlier` among them.
 */
export async function draftBatchJobs(
  c: AppContext,
  { items, faults: earlier }: { items: readonly BatchItem[]; faults: readonly Fault[] },
  { batchId, rows }: { batchId: string; rows: InputRows },
): Promise<JobDraft[]> {
  const { ordered, circular } = orderItems(items)
  const faults = [...earlier, ...circular.flatMap(findCircularFaults)]
  // A job of a circle has no draft, and its outputs are unknown to the others.
  const batchJobs = new Map<string, JobWithOutputs | null>(
    circular.map(({ item }) => [item.name, null]),
  )
  const lengths = await ChainLengths.read(c, rows)
  const drafts: JobDraft[] = []
  for (const item of [...ordered, ...circular.map((each) => each.item)]) {
    const drafted = await item.draft({ rows, batchJobs })
    const found = "faults" in drafted ? drafted.faults : lengths.findFaults(item, drafted.draft)
    faults.push(...found.map((fault) => placeFault(item, fault)))
    if ("faults" in drafted) batchJobs.set(item.name, null)
    else {
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

/** Returns a fault with its place in the request of the batch. */
function placeFault({ name }: Pick<BatchItem, "name">, fault: Fault): Fault {
  const field = fault.field === "" ? `jobs.${name}` : `jobs.${name}.${fault.field}`
  return { ...fault, field }
}

type CircularItem = { item: BatchItem; names: readonly string[] }

/**
 * Orders items, so that each comes after the items whose outputs it reads. Items of a circle, and
 * items behind one, are `circular`; `names` are the jobs that cannot be ordered.
 */
function orderItems(items: readonly BatchItem[]): {
  ordered: BatchItem[]
  circular: CircularItem[]
} {
  const left = new Map(items.map((item) => [item.name, item]))
  const ordered: BatchItem[] = []
  for (;;) {
    const ready = [...left.values()].filter(
      ({ needs }) => !needs.some(({ name }) => left.has(name)),
    )
    if (ready.length === 0) break
    for (const item of ready) {
      left.delete(item.name)
      ordered.push(item)
    }
  }
  const names = [...left.keys()]
  return { ordered, circular: [...left.values()].map((item) => ({ item, names })) }
}

/** Returns the faults of the inputs by which a job waits for itself. */
function findCircularFaults({ item, names }: CircularItem): Fault[] {
  return item.needs
    .filter(({ name }) => names.includes(name))
    .map(({ name, field }) => {
      const message = `expected an output of a job that can start before "${item.name}", but "${name}" waits in a circle: ${names.join(", ")}`
      return placeFault(item, { field, code: "circular_input", message })
    })
}

/** Numbers of jobs in the longest chains that end with the jobs of a batch. */
class ChainLengths {
  readonly #byJobId = new Map<string, number>()
  readonly #outside: number

  private constructor(outside: number) {
    this.#outside = outside
  }

  /** Reads the longest chain of open jobs outside of the batch whose outputs the batch reads. */
  static async read(c: AppContext, { files }: InputRows): Promise<ChainLengths> {
    const open = files.filter(({ state }) => state === "waiting" || state === "running")
    const jobIds = [...new Set(open.map(({ jobId }) => jobId))]
    const database = c.get("database")
    return new ChainLengths(jobIds.length === 0 ? 0 : await measureLongestChain(database, jobIds))
  }

  /** Notes the chain that ends with a job. Returns a fault if the chain is too long. */
  findFaults({ needs }: Pick<BatchItem, "needs">, { job, neededJobIds = [] }: JobDraft): Fault[] {
    const before = neededJobIds.map((id) => this.#byJobId.get(id) ?? this.#outside)
    const length = 1 + Math.max(0, ...before)
    this.#byJobId.set(job.id, length)
    return length > CHAIN_LENGTH_MAX ? [chainTooLongFault(needs[0]?.field ?? "")] : []
  }
}
