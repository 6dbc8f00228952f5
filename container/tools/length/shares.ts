import { readCommand } from "../../../src/contract/command-line.ts"
import { outputBounds } from "./bounds.ts"
import { certainSeconds } from "./certain-length.ts"

/** What is counted in frames is weighed as if it played so fast. */
const FRAMES_A_SECOND = 25

/** The shares of their work that a command begins and ends at, from 0 to 1. */
export type Share = { from: number; to: number }

/**
 * The shares of commands that run one after the other: by the lengths of what they make, where all
 * of these are known, and else the same for each. `known` are the lengths of inputs by name.
 */
export function commandShares(
  commands: readonly (readonly string[])[],
  known: ReadonlyMap<string, number>,
): Share[] {
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

/** The names of the files that a command writes. */
export function outputNames(argv: readonly string[]): string[] {
  return readCommand(argv).files.flatMap(({ kind, word }) => (kind === "output" ? [word] : []))
}

/** How long what each command makes is; later ones may read what earlier ones make. */
function expectedLengths(
  commands: readonly (readonly string[])[],
  known: ReadonlyMap<string, number>,
): (number | null)[] {
  const lengths = new Map(known)
  return commands.map((argv) => {
    const { frames } = outputBounds(argv)
    const bound = frames === null ? Infinity : frames / FRAMES_A_SECOND
    const whole = certainSeconds(argv, (name) => lengths.get(name) ?? null)
    const seconds = whole === null ? null : Math.min(whole, bound)
    for (const name of seconds === null ? [] : outputNames(argv)) lengths.set(name, seconds ?? 0)
    return seconds
  })
}
