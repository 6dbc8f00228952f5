import { injectAt, SOUND_POINTS } from "./injection-points.ts"
import { MESSAGE_FAULTS } from "./message-faults.ts"
import type { Fault, Group } from "./cell.ts"
import { cutNetwork, killRunner, killTools, killWorkerd } from "./process-faults.ts"
import { submitRenditions } from "./rendition-jobs.ts"

const SHORT_CUT_MS = 2000

const FAULTS: Record<string, Fault> = {
  "kill -9 runner": killRunner,
  "kill -9 workerd": killWorkerd,
  "kill -9 tools": killTools,
  "cut 2 s": cutNetwork(SHORT_CUT_MS),
}

/** Faults of transcodes, and what passes between Worker and runner sent twice or lost. */
export const RENDITION_GROUPS: Group[] = [
  ...Object.entries(FAULTS).map(([fault, inject]) => ({
    name: `renditions: ${fault}`,
    smallDisk: "none" as const,
    cells: SOUND_POINTS.map((point) => ({
      fault,
      point: `renditions: ${point}`,
      everyRounds: 1,
      run: async (bed: Parameters<Fault>[0]) =>
        await injectAt(bed, point, async () => await inject(bed), submitRenditions),
    })),
  })),
  {
    name: "renditions: messages",
    smallDisk: "none",
    cells: Object.entries(MESSAGE_FAULTS).map(([fault, makeRule]) => ({
      fault,
      point: "renditions: always",
      everyRounds: 1,
      makeRule,
      run: async (bed) => await submitRenditions(bed, () => undefined),
    })),
  },
]
