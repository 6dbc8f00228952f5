import type { Cell, Fault, Group } from "./cell.ts"
import { submitBatch, submitChain } from "./chain-jobs.ts"
import type { ChainTarget } from "./chain-jobs.ts"
import { HANDOVER_POINTS, injectAt } from "./injection-points.ts"
import type { InjectionPoint, Submit } from "./injection-points.ts"
import { MESSAGE_FAULTS, REFUSALS_OF_TASKS, refuseTasks } from "./message-faults.ts"
import {
  cutNetwork,
  endRunner,
  killBoth,
  killRunner,
  killWorkerd,
  lockDatabase,
  restartService,
} from "./process-faults.ts"

const SHORT_CUT_MS = 2000
const LOCK_MS = 3000

/** Points of each job of a chain at which a fault is injected. */
const POINTS: Partial<Record<ChainTarget, readonly InjectionPoint[]>> = {
  film: ["accepted", "encoding", ...HANDOVER_POINTS],
  level: ["dispatched", "downloading", "uploading", ...HANDOVER_POINTS],
  join: [...HANDOVER_POINTS, "telling"],
}
/** Points of a batch: those of its jobs, and the delivery of its own webhook. */
const BATCH_POINTS = { ...POINTS, batch: ["telling"] } as const

const FAULTS: Record<string, Fault> = {
  "kill -9 runner": killRunner,
  "kill -9 workerd": killWorkerd,
  "kill -9 runner and workerd": killBoth,
}
/** Faults that are injected only where one job ends and the next one starts. */
const HANDOVER_FAULTS: Record<string, Fault> = {
  "end runner": endRunner,
  "cut 2 s": cutNetwork(SHORT_CUT_MS),
  "D1 refuses writes 3 s": lockDatabase(LOCK_MS),
  "kill -9 service": restartService("SIGKILL"),
  "end service": restartService("SIGTERM"),
}

type Subject = {
  name: string
  points: Partial<Record<ChainTarget, readonly InjectionPoint[]>>
  makeSubmit: (target: ChainTarget) => Submit
}

const SUBJECTS: readonly Subject[] = [
  { name: "chains", points: POINTS, makeSubmit: submitChain },
  { name: "batches", points: BATCH_POINTS, makeSubmit: submitBatch },
]

/** Faults of jobs that wait for outputs of other jobs, created one by one and as a batch. */
export const CHAIN_GROUPS: Group[] = SUBJECTS.flatMap((subject) => [
  ...Object.entries(FAULTS).map(([fault, inject]) =>
    chainGroup(subject, fault, injectedCells(subject, fault, inject, subject.points)),
  ),
  chainGroup(
    subject,
    "handover",
    Object.entries(HANDOVER_FAULTS).flatMap(([fault, inject]) =>
      injectedCells(subject, fault, inject, { film: HANDOVER_POINTS, join: ["reporting"] }),
    ),
  ),
  chainGroup(subject, "messages", [...messageCells(subject), ...refusalCells(subject)]),
])

function chainGroup({ name }: Subject, part: string, cells: Cell[]): Group {
  return { name: `${name}: ${part}`, smallDisk: "none", cells }
}

function injectedCells(
  { name, makeSubmit }: Subject,
  fault: string,
  inject: Fault,
  points: Subject["points"],
): Cell[] {
  return (["film", "level", "join", "batch"] as const).flatMap((target) =>
    (points[target] ?? []).map((point) => ({
      fault,
      point: `${name}: ${target}: ${point}`,
      everyRounds: 1,
      run: async (bed) =>
        await injectAt(bed, point, async () => await inject(bed), makeSubmit(target)),
    })),
  )
}

function messageCells({ name, makeSubmit }: Subject): Cell[] {
  return Object.entries(MESSAGE_FAULTS).map(([fault, makeRule]) => ({
    fault,
    point: `${name}: always`,
    everyRounds: 1,
    makeRule,
    run: async (bed) => await makeSubmit("film")(bed, () => undefined),
  }))
}

function refusalCells({ name, makeSubmit }: Subject): Cell[] {
  return Object.entries(REFUSALS_OF_TASKS).map(([fault, makeRule]) => ({
    fault,
    point: `${name}: accepted`,
    everyRounds: 1,
    run: async (bed) => {
      refuseTasks(bed, makeRule())
      return await makeSubmit("film")(bed, () => undefined)
    },
  }))
}
