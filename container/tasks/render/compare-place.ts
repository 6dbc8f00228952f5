import { rm } from "node:fs/promises"
import { log } from "../../log.ts"
import { openPlainFile, pathIn } from "../../sandbox/workspace.ts"
import { compareArguments } from "../../tools/quality/compare-arguments.ts"
import type { Comparison } from "../../tools/quality/compare-arguments.ts"
import { METRICS } from "../../tools/quality/metrics.ts"
import { runFfmpeg } from "../../tools/run-ffmpeg.ts"
import { runFacts } from "../run-context.ts"
import type { RunContext } from "../run-context.ts"

/** What measuring works with; a run has it. */
export type MeasureContext = Omit<RunContext, "io" | "reporter">

/** A comparison whose renditions have no logs yet. */
type Place = Omit<Comparison, "renditions"> & {
  renditions: readonly { name: string; filters: readonly string[] }[]
  timeLimitMs: number
}

type End = "compared" | "time limit" | "failed"

/**
 * Scores of the frames of a place by the order of the renditions. What was compared counts, however
 * it ended; a failure of ffmpeg is logged. Throws only where the run is to end.
 */
export async function comparePlace(
  context: MeasureContext,
  place: Place,
): Promise<{ scores: number[][]; end: End }> {
  const renditions = place.renditions.map((each, at) => ({ ...each, log: logName(at) }))
  const argv = compareArguments({ ...place, renditions })
  const end = await run(context, argv, place.timeLimitMs)
  const { readScores } = METRICS[place.metric]
  const scores: number[][] = []
  for (const each of renditions) scores.push(readScores(await takeText(context, each.log)))
  return { scores, end }
}

async function run(context: MeasureContext, argv: string[], timeLimitMs: number): Promise<End> {
  try {
    const failed = await runFfmpeg(context, {
      argv,
      position: { number: 1, total: 1 },
      timeLimitMs,
      onSpawn: () => undefined,
      onFraction: () => undefined,
      onSuccess: () => undefined,
    })
    if (failed === null) return "compared"
    if (failed === "time limit") return failed
    logFailure(context, failed.failure.message)
  } catch (error) {
    context.signal.throwIfAborted()
    logFailure(context, error instanceof Error ? error.message : String(error))
  }
  return "failed"
}

/** The text of a file that a tool wrote, which is removed; empty where there is none. */
async function takeText({ workspace }: MeasureContext, name: string): Promise<string> {
  const path = pathIn(workspace, name)
  const handle = await openPlainFile(path).catch(() => null)
  if (!handle) return ""
  await using file = handle
  const text = await file.readFile("utf8")
  await rm(path, { force: true })
  return text
}

function logName(at: number): string {
  return `quality-${at}.log`
}

function logFailure({ status }: MeasureContext, error: string): void {
  log("warn", "quality.failed", { ...runFacts(status), error })
}
