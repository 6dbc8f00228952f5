import type { Blame, FailureCode } from "../src/contract/failure.ts"

/** What a pattern in the tool's words means; the groups of its match go to `sentence`. */
export type ExplainRule = {
  code: FailureCode
  pattern: RegExp
  sentence: (first: string, second: string, third: string) => string
  blame?: Blame
}
