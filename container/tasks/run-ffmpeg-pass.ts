import { createCallerFailure } from "../task-failure.ts"
import type { TaskFailure } from "../task-failure.ts"
import { runFfmpeg } from "../tools/ffmpeg/run-ffmpeg.ts"
import type { FinishedFfmpegRun } from "../tools/ffmpeg/run-ffmpeg.ts"
import type { RunClock } from "./run-clock.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext } from "./run-context.ts"

/**
 * Arguments for one run of ffmpeg, and the progress of the task, from 0 to 1, at the start (`from`)
 * and the end (`to`) of that run.
 */
type Pass = {
  argv: readonly string[]
  from: number
  to: number
  onStderrLine?: (line: string) => void
}

/**
 * Runs ffmpeg once within the remaining time of the task. Reports the progress of the task during
 * the run.
 */
export async function runFfmpegPass(
  context: RunContext,
  clock: RunClock,
  { argv, from, to, onStderrLine }: Pass,
): Promise<FinishedFfmpegRun | TaskFailure> {
  let finished: FinishedFfmpegRun | null = null
  const failed = await runFfmpeg(context, {
    argv,
    position: { number: 1, total: 1 },
    timeLimitMs: clock.leftMs(),
    onSpawn: () => markProcessStarted(context, "ffmpeg"),
    onFraction: (fraction) => clock.report(from + (to - from) * fraction),
    onDetail: (detail) => clock.reportDetail(detail),
    onStderrLine,
    onSuccess: (run) => {
      finished = run
    },
  })
  if (failed === "time limit") return createCallerFailure("time_limit", clock.describeLimit())
  if (failed) return failed
  if (finished) return finished
  throw new Error("ffmpeg ended without a result.")
}
