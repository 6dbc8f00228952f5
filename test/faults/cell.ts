import type { SubmittedJobs } from "./submitted-jobs.ts"
import type { Bed } from "./bed.ts"
import type { Rule } from "./proxy.ts"

export type Fault = (bed: Bed) => Promise<void>

/** Cell of the matrix: a fault and the point of a job's life at which it is injected. */
export type Cell = {
  fault: string
  point: string
  /** It is tried in one of this many rounds, since it takes long. */
  everyRounds: number
  /** Rule of the proxy until the jobs have ended. */
  makeRule?: () => Rule
  /** Submits jobs, injects the fault, and returns the jobs. */
  run(bed: Bed): Promise<SubmittedJobs>
}

/** Cells that share a service. */
export type Group = {
  name: string
  /** Data on a small disk of its own, which a fault can fill. */
  smallDisk: "none" | "workspaces" | "state"
  /** Why a machine cannot try it; null where it can. */
  findLack?: () => Promise<string | null>
  cells: Cell[]
}
