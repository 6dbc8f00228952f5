import type { Blame, FailureCode } from "../src/contract/failure.ts"

/**
 * What a line of the tool's words means. Callers decide much of what the tool says, so that each
 * pattern looks at one line, of which it must not try many ways to read it.
 */
export type ExplainRule = {
  code: FailureCode
  pattern: RegExp
  /** What the line after it must be. */
  next?: RegExp
  /** What a line somewhere after it must be. */
  later?: RegExp
  /** What of the groups of the matches is said; null where the rule does not fit after all. */
  pick?: (groups: readonly string[]) => string[] | null
  /** Takes the groups, each cut where it is long. */
  sentence: (first: string, second: string, third: string) => string
  blame?: Blame
}
