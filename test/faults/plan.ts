import type { Bed } from "./bed.ts"
import { LARGE, submitBatch } from "./batch.ts"
import type { Batch } from "./batch.ts"
import { MESSAGE_FAULTS, REFUSALS_OF_TASKS, refuseTasks } from "./message-faults.ts"
import type { Rule } from "./proxy.ts"
import { PART_POINTS, RUNNER_POINTS, INJECTION_POINTS, injectAt } from "./injection-points.ts"
import type { InjectionPoint } from "./injection-points.ts"
import {
  cutNetwork,
  failSelfTest,
  fillDisk,
  killBoth,
  killRunner,
  killTools,
  killWorkerd,
  lockDatabase,
  stopRunner,
} from "./process-faults.ts"

/** One cell of the matrix: a fault, and the point of a job's life at which it is injected. */
export type Cell = {
  fault: string
  point: string
  /** It is tried in one of this many rounds, since it takes long. */
  everyRounds: number
  /** What the proxy does until the jobs have ended. */
  makeRule?: () => Rule
  /** Submits jobs, injects the fault, and returns the jobs. */
  run(bed: Bed): Promise<Batch>
}

/** Cells that share a service. */
export type Group = {
  name: string
  /** What lies on a small disk of its own, which can be filled. */
  smallDisk: "none" | "workspaces" | "state"
  cells: Cell[]
}

const LONG_CUT_MS = 45_000
const SHORT_CUT_MS = 2000
const SILENCE_MS = 38_000
const LOCK_MS = 3000
const FULL_MS = 1500
const SELF_TEST_MS = 3000

const BOTH_POINTS = ["accepted", "encoding", "uploading", "reporting", "reported"] as const

type Fault = (bed: Bed) => Promise<void>

/** Every fault at every point at which it has an effect. */
export const GROUPS: Group[] = [
  group("kill runner", cells("kill -9 runner", killRunner, INJECTION_POINTS)),
  group("kill ffmpeg", cells("kill -9 ffmpeg", killTools, INJECTION_POINTS)),
  group("kill workerd", cells("kill -9 workerd", killWorkerd, INJECTION_POINTS)),
  group("kill both", cells("kill -9 runner and workerd", killBoth, BOTH_POINTS)),
  group("parts", [
    ...partCells("kill -9 runner", killRunner),
    ...partCells("kill -9 workerd", killWorkerd),
    ...partCells("cut 2 s", cutNetwork(SHORT_CUT_MS)),
    ...partCells("D1 refuses writes 3 s", lockDatabase(LOCK_MS)),
  ]),
  group("reports", [
    ...Object.entries(MESSAGE_FAULTS).map(([name, makeRule]) => messageFaultCell(name, makeRule)),
    ...cells("cut 2 s", cutNetwork(SHORT_CUT_MS), RUNNER_POINTS),
  ]),
  group(
    "refusals",
    Object.entries(REFUSALS_OF_TASKS).map(([fault, makeRule]) => ({
      fault,
      point: "accepted",
      everyRounds: 1,
      run: async (bed) => {
        refuseTasks(bed, makeRule())
        return await submitBatch(bed, () => undefined)
      },
    })),
  ),
  group("database", [
    ...cells("D1 refuses writes 3 s", lockDatabase(LOCK_MS), [
      "accepted",
      ...RUNNER_POINTS,
      "telling",
    ]),
  ]),
  {
    ...group("disk", [
      ...cells("disk full 1.5 s", fillDisk(FULL_MS, "workDir"), [
        "accepted",
        "downloading",
        "encoding",
      ]),
    ]),
    smallDisk: "workspaces",
  },
  {
    ...group("state's disk", [
      ...cells("disk of the state full 1.5 s", fillDisk(FULL_MS, "stateDir"), [
        "accepted",
        ...RUNNER_POINTS,
        "settled",
        "telling",
      ]),
    ]),
    smallDisk: "state",
  },
  group("self-test", [
    ...cells("self-test fails 3 s", failSelfTest(SELF_TEST_MS), [
      "accepted",
      "queued",
      "encoding",
      "uploading",
    ]),
  ]),
  group("silence", [
    ...cells("runner stopped 38 s", stopRunner(SILENCE_MS), ["encoding", "reporting"], 4),
    ...cells("cut 45 s", cutNetwork(LONG_CUT_MS), ["encoding", "uploading"], 4),
  ]),
]

function group(name: string, its: Cell[]): Group {
  return { name, smallDisk: "none", cells: its }
}

function cells(
  fault: string,
  inject: Fault,
  points: readonly InjectionPoint[],
  everyRounds = 1,
): Cell[] {
  return points.map((point) => ({
    fault,
    point,
    everyRounds,
    run: async (bed) => await injectAt(bed, point, async () => await inject(bed)),
  }))
}

/** A fault at the points of a large output. */
function partCells(fault: string, inject: Fault): Cell[] {
  return PART_POINTS.map((point) => ({
    fault,
    point,
    everyRounds: 2,
    run: async (bed) => await injectAt(bed, point, async () => await inject(bed), LARGE),
  }))
}

function messageFaultCell(fault: string, makeRule: () => Rule): Cell {
  return {
    fault,
    point: "always",
    everyRounds: 1,
    makeRule,
    run: async (bed) => await submitBatch(bed, () => undefined),
  }
}
