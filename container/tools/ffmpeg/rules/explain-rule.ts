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
   * Returns the error sentence with advice. `first`, `second` and `third` are the texts that `pick`
   * has selected, or else the capture groups, each shortened.
   */
  sentence: (first: string, second: string, third: string, command: ParsedCommand) => string
  blame?: Blame
  /**
   * Whether ffmpeg also prints the message if an encoder received no frame. Such a message does not
   * prove that the cause in the rule's sentence is the true one.
   */
  isVague?: true
}

/**
 * Short form of a rule that explains failures of ffmpeg: the pattern, the sentence, and optional
 * further fields. The failure code is common to all rules of a table.
 */
type RuleRow = readonly [
  pattern: RegExp,
  sentence: ExplainRule["sentence"],
  rest?: Omit<ExplainRule, "code" | "pattern" | "sentence">,
]

/**
 * Converts the rows of a table, each with a pattern and a sentence, to rules that explain failures
 * of ffmpeg. All rules have the failure code `code`.
 */
export function toExplainRules(code: FailureCode, rows: readonly RuleRow[]): ExplainRule[] {
  return rows.map(([pattern, sentence, rest]) => ({ code, pattern, sentence, ...rest }))
}
