import { parseFfmpegCommand } from "../../../../src/ffmpeg/command-line.ts"
import { computeCertainOutputSeconds, parseOutputLimits } from "./certain-duration.ts"

/**
 * Assumed frame rate, in frames per second, by which a limit of frames in a command (`-frames:v`)
 * is converted to seconds.
 */
const FRAMES_A_SECOND = 25

/**
 * Progress of a task, from 0 to 1, at the start (`from`) and at the end (`to`) of one of its
 * commands.
 */
export type ProgressRange = { from: number; to: number }

/**
 * Divides the progress of a task among its commands, which run in sequence. If the durations of all
 * outputs are known, each command gets a share in proportion to the duration of its output;
 * otherwise all commands get equal shares. `known` contains the durations of inputs in seconds, by
 * file name.
 */
export function divideProgressAmongCommands(
  commands: readonly (readonly string[])[],
  known: ReadonlyMap<string, number>,
): ProgressRange[] {
  if (commands.length === 1) return [{ from: 0, to: 1 }]
  const lengths = expectedLengths(commands, known)
  const weights = lengths.includes(null) ? commands.map(() => 1) : lengths.map((each) => each ?? 0)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let done = 0
  return weights.map((weight) => {
    const from = done / total
    done += weight
    return { from, to: done / total }
  })
}

/** Returns the names of the output files of a command. */
export function listCommandOutputNames(argv: readonly string[]): string[] {
  return parseFfmpegCommand(argv).files.flatMap(({ kind, word }) =>
    kind === "output" ? [word] : [],
  )
}

/**
 * Returns the expected duration of the output of each command, in seconds; null if unknown. A
 * duration also serves for later commands that read the output.
 */
function expectedLengths(
  commands: readonly (readonly string[])[],
  known: ReadonlyMap<string, number>,
): (number | null)[] {
  const lengths = new Map(known)
  return commands.map((argv) => {
    const { frames } = parseOutputLimits(argv)
    const bound = frames === null ? Infinity : frames / FRAMES_A_SECOND
    const whole = computeCertainOutputSeconds(argv, (name) => lengths.get(name) ?? null)
    const seconds = whole === null ? null : Math.min(whole, bound)
    for (const name of seconds === null ? [] : listCommandOutputNames(argv))
      lengths.set(name, seconds ?? 0)
    return seconds
  })
}
