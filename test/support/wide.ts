/** Environment variable that enables wide tests. `scripts/test/suite.ts` sets the variable. */
export const WIDE_TESTS_VARIABLE = "LATHE_TESTS_WIDE"

/** Returns the cases of a test table: the few typical cases, and in wide tests also all others. */
export function selectCases<Case>(few: readonly Case[], others: readonly Case[]): Case[] {
  return process.env[WIDE_TESTS_VARIABLE] === "true" ? [...few, ...others] : [...few]
}

/** Returns every n-th case of a test table (`every`), and in wide tests all cases. */
export function sampleCases<Case>(cases: readonly Case[], every: number): Case[] {
  return selectCases(
    cases.filter((_, place) => place % every === 0),
    cases.filter((_, place) => place % every > 0),
  )
}

/**
 * Environment variable that skips slow tests, whose file names contain "slow". `npm test` without
 * file names sets the variable.
 */
export const SKIP_SLOW_TESTS_VARIABLE = "LATHE_TESTS_QUICK"
