import { explainMissingSpeechTools } from "../support/media/speech.ts"
import { injectAt, SOUND_POINTS } from "./injection-points.ts"
import type { InjectionPoint } from "./injection-points.ts"
import type { Cell, Fault, Group } from "./cell.ts"
import {
  endRunner,
  killRunner,
  killSpeechWorkers,
  killTools,
  killWorkerd,
  restartService,
  stopRunner,
} from "./process-faults.ts"
import { SOUND_TARGETS, submitSound } from "./sound-jobs.ts"
import type { SoundTarget } from "./sound-jobs.ts"

const STOPPED_MS = 5000

const FAULTS: Record<string, Fault> = {
  "kill -9 runner": killRunner,
  "kill -9 workerd": killWorkerd,
  "kill -9 tools": killTools,
}
/** Points at which a transcription has its worker, or is about to have one. */
const WORKER_POINTS = ["dispatched", "encoding", "uploading", "reporting"] as const

/** Faults of normalizations and transcriptions. */
export const SOUND_GROUPS: Group[] = [
  ...SOUND_TARGETS.map((target) =>
    soundGroup(
      target,
      Object.entries(FAULTS).flatMap(([fault, inject]) =>
        soundCells(fault, inject, target, SOUND_POINTS),
      ),
    ),
  ),
  soundGroup("workers", [
    ...soundCells("kill -9 speech worker", killSpeechWorkers, "transcribe", WORKER_POINTS),
    ...soundCells("runner stopped 5 s", stopRunner(STOPPED_MS), "transcribe", WORKER_POINTS),
    ...soundCells("end runner", endRunner, "transcribe", ["encoding", "uploading"]),
    ...soundCells("kill -9 service", restartService("SIGKILL"), "transcribe", ["encoding"]),
  ]),
]

function soundGroup(name: string, cells: Cell[]): Group {
  return { name: `sound: ${name}`, smallDisk: "none", cells, findLack: explainMissingSpeechTools }
}

function soundCells(
  fault: string,
  inject: Fault,
  target: SoundTarget,
  points: readonly InjectionPoint[],
): Cell[] {
  return points.map((point) => ({
    fault,
    point: `${target}: ${point}`,
    everyRounds: 1,
    run: async (bed) =>
      await injectAt(bed, point, async () => await inject(bed), submitSound(target)),
  }))
}
