import pMap from "p-map"
import { formatDifference, formatMs, formatRatio } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { rotateMedians, timeMs } from "../statistics.ts"
import type { Contender } from "./contender.ts"

// What serves for days is measured once its code is compiled, as it is after some dozens of requests.
const ROUNDS = { warmUp: 30, counted: 15 }
const CROWD = { probes: 100, callers: 8, rounds: { warmUp: 1, counted: 3 } }

type Case = {
  name: string
  tool: "ffmpeg" | "ffprobe"
  rounds: { warmUp: number; counted: number }
  /** What it may take at most, as a multiple of what the bare tool takes. */
  ratio: number
  /** Beyond the bare tool, where the service uses the same one: nothing is to be saved in it then. */
  moreMs?: number
  /** What a contender does in it; null: it has nothing of the kind. */
  workOf: (contender: Contender) => (() => Promise<void>) | null
}

const CASES: Case[] = [
  {
    name: "probe, upload until ffprobe is there, p50",
    tool: "ffprobe",
    rounds: ROUNDS,
    ratio: 0.7,
    moreMs: 25,
    workOf: ({ probe }) => probe,
  },
  {
    name: "upload + remux + download, p50",
    tool: "ffmpeg",
    rounds: ROUNDS,
    ratio: 1.6,
    workOf: ({ remux }) => remux,
  },
  {
    name: "remux + download of a file that is there, p50",
    tool: "ffmpeg",
    rounds: ROUNDS,
    ratio: 0.8,
    workOf: ({ remuxStored }) => remuxStored,
  },
  {
    name: `${CROWD.probes} probes by ${CROWD.callers} callers, median`,
    tool: "ffprobe",
    rounds: CROWD.rounds,
    ratio: 0.7,
    workOf: ({ probe }) => crowd(probe),
  },
]

/** Who takes part: the bare tools, which are the reference, this service, and others by their names. */
export type Contenders = {
  bare: Contender
  lathe: Contender
  /** Whether the service uses the tools that are the reference. */
  usesBareTools: boolean
  peers: Record<string, Contender>
}

/** Every case of every contender, in turns; this service's with the goals. */
export async function compareContenders(
  bench: string,
  { bare, lathe, usesBareTools, peers }: Contenders,
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const each of CASES) {
    const medianOf = await measureCase(each, { bare, lathe, ...peers })
    const referenceMs = medianOf("bare")
    for (const [name, contender] of Object.entries({ lathe, ...peers })) {
      if (!each.workOf(contender)) continue
      const goal = contender === lathe ? { ...each, usesBareTools } : null
      const measuredMs = medianOf(name)
      figures.push({
        name: `${bench}: ${each.name}${contender === lathe ? "" : ` (${name})`}`,
        measured: formatMs(measuredMs),
        reference: `${formatMs(referenceMs)} bare ${each.tool}`,
        ...compare(measuredMs, referenceMs, goal),
      })
    }
  }
  return figures
}

async function measureCase(
  { rounds, workOf }: Case,
  contenders: Record<string, Contender>,
): Promise<(name: string) => number> {
  const measures = Object.entries(contenders).flatMap(([name, contender]) => {
    const work = workOf(contender)
    return work ? [[name, () => timeMs(work)] as const] : []
  })
  return await rotateMedians<string>(rounds, Object.fromEntries(measures))
}

/** The work by so many callers at once, so many times in all. */
function crowd(work: () => Promise<void>): () => Promise<void> {
  const times = Array.from({ length: CROWD.probes })
  return async () => void (await pMap(times, work, { concurrency: CROWD.callers }))
}

function compare(
  measuredMs: number,
  referenceMs: number,
  goal: { ratio: number; moreMs?: number; usesBareTools: boolean } | null,
): Pick<Figure, "comparison" | "goal" | "isMet"> {
  const [ratio, moreMs] = [measuredMs / referenceMs, measuredMs - referenceMs]
  const comparison = `${formatRatio(ratio)}, ${formatDifference(moreMs, formatMs)}`
  if (!goal) return { comparison, goal: "for information", isMet: null }
  if (goal.usesBareTools && goal.moreMs !== undefined) {
    return { comparison, goal: `<= +${goal.moreMs} ms`, isMet: moreMs <= goal.moreMs }
  }
  return { comparison, goal: `<= ${goal.ratio} x`, isMet: ratio <= goal.ratio }
}
