import type { Bed } from "./bed.ts"
import { LARGE, submitBatch } from "./batch.ts"
import type { Batch } from "./batch.ts"
import { MISCHIEFS } from "./mischief.ts"
import type { Rule } from "./proxy.ts"
import { PART_STEPS, STEPS, strikeAt } from "./steps.ts"
import type { Step } from "./steps.ts"
import {
  cutNetwork,
  fillDisk,
  killBoth,
  killRunner,
  killTools,
  killWorkerd,
  lockDatabase,
  stopRunner,
} from "./strikes.ts"

/** One cell of the matrix: a fault, and the step of a job at which it strikes. */
export type Cell = {
  fault: string
  step: string
  /** Out of so many rounds it is tried once, since it takes long. */
  everyRounds: number
  /** What the proxy does meanwhile, up to the end of the jobs. */
  makeRule?: () => Rule
  /** Submits jobs and lets the fault strike; answers the jobs. */
  run(bed: Bed): Promise<Batch>
}

/** Cells that share a service. */
export type Group = { name: string; needsSmallDisk: boolean; cells: Cell[] }

const LONG_CUT_MS = 45_000
const SHORT_CUT_MS = 2000
const SILENCE_MS = 38_000
const LOCK_MS = 3000
const FULL_MS = 1500

const BOTH_STEPS = ["accepted", "encoding", "uploading", "reporting", "reported"] as const

type Strike = (bed: Bed) => Promise<void>

/** Every fault at every step at which it means something. */
export const GROUPS: Group[] = [
  group("kill runner", cells("kill -9 runner", killRunner, STEPS)),
  group("kill ffmpeg", cells("kill -9 ffmpeg", killTools, STEPS)),
  group("kill workerd", cells("kill -9 workerd", killWorkerd, STEPS)),
  group("kill both", cells("kill -9 runner and workerd", killBoth, BOTH_STEPS)),
  group("parts", [
    ...partCells("kill -9 runner", killRunner),
    ...partCells("kill -9 workerd", killWorkerd),
    ...partCells("cut 2 s", cutNetwork(SHORT_CUT_MS)),
    ...partCells("D1 refuses writes 3 s", lockDatabase(LOCK_MS)),
  ]),
  group("reports", [
    ...Object.entries(MISCHIEFS).map(([name, makeRule]) => mischiefCell(name, makeRule)),
    ...cells("cut 2 s", cutNetwork(SHORT_CUT_MS), [
      "dispatched",
      "downloading",
      "encoding",
      "uploading",
      "reporting",
      "reported",
    ]),
  ]),
  group("database", [
    ...cells("D1 refuses writes 3 s", lockDatabase(LOCK_MS), [
      "accepted",
      "dispatched",
      "downloading",
      "encoding",
      "uploading",
      "reporting",
      "reported",
      "telling",
    ]),
  ]),
  {
    ...group("disk", [
      ...cells("disk full 1.5 s", fillDisk(FULL_MS), ["accepted", "downloading", "encoding"]),
    ]),
    needsSmallDisk: true,
  },
  group("silence", [
    ...cells("runner stopped 38 s", stopRunner(SILENCE_MS), ["encoding", "reporting"], 4),
    ...cells("cut 45 s", cutNetwork(LONG_CUT_MS), ["encoding", "uploading"], 4),
  ]),
]

function group(name: string, its: Cell[]): Group {
  return { name, needsSmallDisk: false, cells: its }
}

function cells(fault: string, strike: Strike, steps: readonly Step[], everyRounds = 1): Cell[] {
  return steps.map((step) => ({
    fault,
    step,
    everyRounds,
    run: async (bed) => await strikeAt(bed, step, async () => await strike(bed)),
  }))
}

/** A fault at the steps of a large output. */
function partCells(fault: string, strike: Strike): Cell[] {
  return PART_STEPS.map((step) => ({
    fault,
    step,
    everyRounds: 2,
    run: async (bed) => await strikeAt(bed, step, async () => await strike(bed), LARGE),
  }))
}

function mischiefCell(fault: string, makeRule: () => Rule): Cell {
  return {
    fault,
    step: "always",
    everyRounds: 1,
    makeRule,
    run: async (bed) => await submitBatch(bed, () => undefined),
  }
}
