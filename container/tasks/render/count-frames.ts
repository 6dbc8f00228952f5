import type { TaskFailure } from "../../task-failure.ts"
import type { RunClock } from "../run-clock.ts"
import type { RunContext } from "../run-context.ts"
import { runFfmpegPass } from "../run-ffmpeg-pass.ts"

/**
 * Number of frames in a video stream, and the total size of the stream's packets in bytes, rounded
 * to KiB.
 */
export type FrameCount = { frames: number; bytes: number }

const KIB = 1024

/**
 * Counts the frames of a video stream without decoding the stream. During the count, the reported
 * progress of the task stays at `at`, from 0 to 1.
 */
export async function countStreamFrames(
  context: RunContext,
  clock: RunClock,
  { name, stream, at }: { name: string; stream: number; at: number },
): Promise<FrameCount | TaskFailure> {
  let frames = 0
  const run = await runFfmpegPass(context, clock, {
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
