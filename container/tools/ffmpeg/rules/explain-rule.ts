import type { ParsedCommand } from "../../../../src/ffmpeg/command-line.ts"
import type { Blame, FailureCode } from "../../../../src/contract/failure.ts"

/**
 * Rule that explains a failure by a line of ffmpeg's output. Callers control much of that output,
 * so patterns match single lines and must not need much backtracking.
 */
export type ExplainRule = {
  code: FailureCode
  pattern: RegExp
  /** Pattern that must match the next line. */
  next?: RegExp
  /** Pattern that must match some later line. */
  later?: RegExp
  /**
   * Selects the texts for the sentence from the groups of all matches; null if the rule does not
   * apply after all.
   */
  pick?: (groups: readonly string[]) => string[] | null
  /**
   * Returns the sentence with advice. `first`, `second` and `third` are texts of the matched
   * groups, shortened.
   */
  sentence: (first: string, second: string, third: string, command: ParsedCommand) => string
  blame?: Blame
  /**
   * Whether the message also occurs if an encoder received no frame, and therefore proves no other
   * cause.
   */
  isVague?: true
}

/** Row of a table of explain rules: the pattern, the sentence, and optional further fields. */
type RuleRow = readonly [
  pattern: RegExp,
  sentence: ExplainRule["sentence"],
  rest?: Omit<ExplainRule, "code" | "pattern" | "sentence">,
]

/** Converts rows of a table to explain rules with the same failure code. */
export function toExplainRules(code: FailureCode, rows: readonly RuleRow[]): ExplainRule[] {
  return rows.map(([pattern, sentence, rest]) => ({ code, pattern, sentence, ...rest }))
}
