import type { ParsedCommand } from "../../../../src/ffmpeg/command-line.ts"
import type { Blame, FailureCode } from "../../../../src/contract/failure.ts"

/**
 * Rule that explains a failure of ffmpeg by a line of ffmpeg's output. Callers control much of the
 * output, so patterns match single lines and must not need much backtracking.
 */
export type ExplainRule = {
  code: FailureCode
  pattern: RegExp
  /** Pattern that must match the line after the line that `pattern` matches. */
  next?: RegExp
  /** Pattern that must match at least one of the lines after the line that `pattern` matches. */
  later?: RegExp
  /**
   * Selects the texts for the sentence from the capture groups of all matches. Returns null if the
   * rule does not apply.
   */
  pick?: (groups: readonly string[]) => string[] | null
  /**
   * Returns the error sentence with advice. `first`, `second` and `third` are the shortened texts
   * of the capture groups.
   */
  sentence: (first: string, second: string, third: string, command: ParsedCommand) => string
  blame?: Blame
  /**
   * Whether ffmpeg prints the same message if an encoder received no frame, so that the message
   * does not prove another cause.
   */
  isVague?: true
}

/** Row of a table of explain rules: the pattern, the sentence, and optional further fields. */
type RuleRow = readonly [
  pattern: RegExp,
  sentence: ExplainRule["sentence"],
  rest?: Omit<ExplainRule, "code" | "pattern" | "sentence">,
]

/**
 * Converts a table of explain rules, whose rows have a pattern and a sentence, to rules that all
 * have the failure code `code`.
 */
export function toExplainRules(code: FailureCode, rows: readonly RuleRow[]): ExplainRule[] {
  return rows.map(([pattern, sentence, rest]) => ({ code, pattern, sentence, ...rest }))
}
