import type { TaskFailure } from "../../failures.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { runPass } from "../run-pass.ts"

/** What a stream of a file has: its frames, and the bytes of all its packets, to a KiB. */
export type CountedStream = { frames: number; bytes: number }

const KIB = 1024

/** Counts the packets of a stream of pictures without decoding; `at` is the share of the task's work. */
export async function countFrames(
  context: RunContext,
  clock: RunClock,
  { name, stream, at }: { name: string; stream: number; at: number },
): Promise<CountedStream | TaskFailure> {
  let frames = 0
  const run = await runPass(context, clock, {
    argv: ["-i", name, "-map", `0:${stream}`, "-c", "copy", "-f", "null", "-"],
    from: at,
    to: at,
    onStderrLine(line) {
      frames = Number(/^frame=\s{0,9}(\d{1,12}) /.exec(line)?.[1] ?? frames)
    },
  })
  if ("failure" in run) return run
  return { frames, bytes: (run.notes.written(0)?.video ?? 0) * KIB }
}
