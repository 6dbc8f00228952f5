import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import { runFfmpeg } from "../tools/run-ffmpeg.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"
import type { RunClock } from "./run-clock.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext } from "./run-context.ts"

/** A run of ffmpeg over the whole file, and the shares of the task's work that it begins and ends at. */
type Pass = {
  argv: readonly string[]
  from: number
  to: number
  onStderrLine?: (line: string) => void
}

/** Runs ffmpeg once, within the time that is left for the task. */
export async function runPass(
  context: RunContext,
  clock: RunClock,
  { argv, from, to, onStderrLine }: Pass,
): Promise<FinishedRun | TaskFailure> {
  let finished: FinishedRun | null = null
  const failed = await runFfmpeg(context, {
    argv,
    position: { number: 1, total: 1 },
    timeLimitMs: clock.leftMs(),
    onSpawn: () => markProcessStarted(context, "ffmpeg"),
    onFraction: (fraction) => clock.report(from + (to - from) * fraction),
    onDetail: (detail) => clock.tell(detail),
    onStderrLine,
    onSuccess: (run) => {
      finished = run
    },
  })
  if (failed === "time limit") return callerFailure("time_limit", clock.describeLimit())
  if (failed) return failed
  if (finished) return finished
  throw new Error("ffmpeg ended without a result.")
}
