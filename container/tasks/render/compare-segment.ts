import { rm } from "node:fs/promises"
import { log } from "../../log.ts"
import { openToolWrittenFile, buildWorkspacePath } from "../../sandbox/workspace.ts"
import { qualityComparisonArguments } from "../../tools/quality/compare-arguments.ts"
import type { QualityComparison } from "../../tools/quality/compare-arguments.ts"
import { QUALITY_METRIC_DEFINITIONS } from "../../tools/quality/quality-metrics.ts"
import { runFfmpeg } from "../../tools/ffmpeg/run-ffmpeg.ts"
import { runLogFields } from "../run-context.ts"
import type { RunContext } from "../run-context.ts"

/**
 * Part of a run's context (settings, sandbox, workspace, signal) that a measurement of quality
 * needs.
 */
export type QualityMeasurementContext = Omit<RunContext, "io" | "reporter">

/**
 * Comparison of renditions (encoded outputs) with their source in one sample segment of the video.
 * `compareSegment` adds the names of the log files to which ffmpeg writes the scores.
 */
type PendingComparison = Omit<QualityComparison, "renditions"> & {
  renditions: readonly { name: string; filters: readonly string[] }[]
  timeLimitMs: number
}

type End = "compared" | "time limit" | "failed"

/**
 * Compares renditions (encoded outputs) with their source in one sample segment of the video.
 * Returns the scores of the compared frames for each rendition, in the order of the renditions.
 * After a timeout or failure, returns the scores that were written before. Logs a failure of
 * ffmpeg. Throws only if the signal of the run aborts.
 */
export async function compareSegment(
  context: QualityMeasurementContext,
  place: PendingComparison,
): Promise<{ scores: number[][]; end: End }> {
  const renditions = place.renditions.map((each, at) => ({ ...each, log: logName(at) }))
  const argv = qualityComparisonArguments({ ...place, renditions })
  const end = await run(context, argv, place.timeLimitMs)
  const { readScores } = QUALITY_METRIC_DEFINITIONS[place.metric]
  const scores: number[][] = []
  for (const each of renditions) scores.push(readScores(await readAndRemoveText(context, each.log)))
  return { scores, end }
}

async function run(
  context: QualityMeasurementContext,
  argv: string[],
  timeLimitMs: number,
): Promise<End> {
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

/** Reads and deletes a file that a tool wrote. Returns an empty text if there is no such file. */
async function readAndRemoveText(
  { workspace }: QualityMeasurementContext,
  name: string,
): Promise<string> {
  const path = buildWorkspacePath(workspace, name)
  const handle = await openToolWrittenFile(path).catch(() => null)
  if (!handle) return ""
  await using file = handle
  const text = await file.readFile("utf8")
  await rm(path, { force: true })
  return text
}

function logName(at: number): string {
  return `quality-${at}.log`
}

function logFailure({ status }: QualityMeasurementContext, error: string): void {
  log("warn", "quality.failed", { ...runLogFields(status), error })
}
