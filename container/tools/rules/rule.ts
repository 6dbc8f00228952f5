import type { ReadCommand } from "../../../src/contract/command-line.ts"
import type { Blame, FailureCode } from "../../../src/contract/failure.ts"

/**
 * What a line of ffmpeg's output means. Callers control much of that output, so a pattern matches
 * single lines and must not backtrack much.
 */
export type ExplainRule = {
  code: FailureCode
  pattern: RegExp
  /** Must match the next line. */
  next?: RegExp
  /** Must match some later line. */
  later?: RegExp
  /** Picks from the groups of the matches; null where the rule does not apply after all. */
  pick?: (groups: readonly string[]) => string[] | null
  /**
   * Makes the sentence of the groups, each shortened where it is long, and of the command that ran.
   * The sentence says what to write instead.
   */
  sentence: (first: string, second: string, third: string, command: ReadCommand) => string
  blame?: Blame
  /** Whether it also matches where an encoder had no frame to be set up by. */
  isVague?: true
}
