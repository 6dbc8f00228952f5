import type { Bed } from "./bed.ts"
import { LARGE, submitJobs } from "./submitted-jobs.ts"
import type { SubmittedJobs } from "./submitted-jobs.ts"
import type { Cell, Fault, Group } from "./cell.ts"
import { CHAIN_GROUPS } from "./chain-plan.ts"
import { MESSAGE_FAULTS, REFUSALS_OF_TASKS, refuseTasks } from "./message-faults.ts"
import type { Rule } from "./proxy.ts"
import {
  FOLLOWING_POINTS,
  INJECTION_POINTS,
  PART_POINTS,
  RESUMABLE_POINTS,
  RUNNER_POINTS,
  WEB_POINTS,
  injectAt,
} from "./injection-points.ts"
import type { InjectionPoint, Submit } from "./injection-points.ts"
import {
  cutNetwork,
  cutSource,
  endRunner,
  failSelfTest,
  fillDisk,
  killBoth,
  killRunner,
  killTools,
  killWorkerd,
  lockDatabase,
  restartService,
  stallSource,
  stopRunner,
} from "./process-faults.ts"
import { RENDITION_GROUPS } from "./rendition-plan.ts"
import { SOUND_GROUPS } from "./sound-plan.ts"
import { submitWeb, WEB_TARGETS } from "./web-jobs.ts"
import type { WebTarget } from "./web-jobs.ts"

/** Points of an import behind which only the rest of its source may be read. */
const READING_ON = new Set<InjectionPoint>(["storing part 5", "completing"])

const LONG_CUT_MS = 45_000
const SHORT_CUT_MS = 2000
const SILENCE_MS = 38_000
const LOCK_MS = 3000
const FULL_MS = 1500
const SELF_TEST_MS = 3000
const STOPPED_MS = 5000

const SERVICE_POINTS = ["dispatched", "storing part 5", "reporting"] as const
const SERVICE_POINTS_OF_COMMAND = ["reading the source", "probed"] as const

const BOTH_POINTS = ["accepted", "encoding", "uploading", "reporting", "reported"] as const

const WEB_FAULTS: Record<string, Fault> = {
  "kill -9 runner": killRunner,
  "end runner": endRunner,
  "kill -9 workerd": killWorkerd,
  "cut 2 s": cutNetwork(SHORT_CUT_MS),
  "source cut 2 s": cutSource(SHORT_CUT_MS),
}

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
        return await submitJobs(bed, () => undefined)
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
  ...WEB_TARGETS.map((target) => group(`web: ${target}`, webFaults(target, WEB_POINTS))),
  group("web: parts", webFaults("large import", RESUMABLE_POINTS)),
  group("web: following", webFaults("command", FOLLOWING_POINTS)),
  group("web: service", [
    ...webCells("kill -9 service", restartService("SIGKILL"), "large import", SERVICE_POINTS),
    ...webCells("end service", restartService("SIGTERM"), "large import", SERVICE_POINTS),
    ...webCells("kill -9 service", restartService("SIGKILL"), "command", SERVICE_POINTS_OF_COMMAND),
    ...webCells("end service", restartService("SIGTERM"), "fetch", ["reading the source"]),
  ]),
  group("web: tools", [
    ...webCells("kill -9 tools", killTools, "fetch", [
      "requesting the source",
      "reading the source",
    ]),
    ...webCells("kill -9 tools", killTools, "page import", ["reading the source"]),
  ]),
  group("web: waiting", [
    ...webCells("runner stopped 5 s", stopRunner(STOPPED_MS), "large import", ["storing part 5"]),
    ...webCells("source stalls 5 s", stallSource(STOPPED_MS), "large import", ["storing part 2"]),
    ...webCells("source stalls 5 s", stallSource(STOPPED_MS), "fetch", ["reading the source"]),
    ...webCells("D1 refuses writes 3 s", lockDatabase(LOCK_MS), "large import", RESUMABLE_POINTS),
    ...webCells("D1 refuses writes 3 s", lockDatabase(LOCK_MS), "command", FOLLOWING_POINTS),
  ]),
  group(
    "web: messages",
    Object.entries(MESSAGE_FAULTS).map(([name, makeRule]) => ({
      ...messageFaultCell(name, makeRule, submitWeb("command")),
      point: "web: always",
    })),
  ),
  {
    ...group("web: disk", [
      ...webCells("disk full 1.5 s", fillDisk(FULL_MS, "workDir"), "fetch", ["reading the source"]),
      ...webCells("disk full 1.5 s", fillDisk(FULL_MS, "workDir"), "command", ["accepted"]),
    ]),
    smallDisk: "workspaces",
  },
  group("web: silence", [
    ...webCells("runner stopped 38 s", stopRunner(SILENCE_MS), "large import", ["storing part 5"]),
    ...webCells("cut 45 s", cutNetwork(LONG_CUT_MS), "large import", ["storing part 5"]),
  ]),
  ...SOUND_GROUPS,
  ...RENDITION_GROUPS,
  ...CHAIN_GROUPS,
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
    run: async (bed) => await injectAt(bed, point, async () => await inject(bed), submitLarge),
  }))
}

async function submitLarge(bed: Bed, onTarget: (id: string) => void): Promise<SubmittedJobs> {
  return await submitJobs(bed, onTarget, LARGE)
}

/** A fault at points of a job that goes to the web. */
function webCells(
  fault: string,
  inject: Fault,
  target: WebTarget,
  points: readonly InjectionPoint[],
): Cell[] {
  return points.map((point) => ({
    fault,
    point: `${target}: ${point}`,
    everyRounds: 1,
    run: async (bed) => {
      const submitted = await injectAt(bed, point, async () => await inject(bed), submitWeb(target))
      submitted.target.readsOn = READING_ON.has(point)
      return submitted
    },
  }))
}

function webFaults(target: WebTarget, points: readonly InjectionPoint[]): Cell[] {
  return Object.entries(WEB_FAULTS).flatMap(([fault, inject]) =>
    webCells(fault, inject, target, points),
  )
}

function messageFaultCell(fault: string, makeRule: () => Rule, submit: Submit = submitJobs): Cell {
  return {
    fault,
    point: "always",
    everyRounds: 1,
    makeRule,
    run: async (bed) => await submit(bed, () => undefined),
  }
}
