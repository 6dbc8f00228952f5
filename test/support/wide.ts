/** Environment variable that enables wide tests. `scripts/test/suite.ts` sets the variable. */
export const WIDE = "LATHE_TESTS_WIDE"

/** Returns the cases of a test table: the few typical cases, and in wide tests also all others. */
export function widely<Case>(few: readonly Case[], others: readonly Case[]): Case[] {
  return process.env[WIDE] === "true" ? [...few, ...others] : [...few]
}

/** Returns every n-th case of a test table (`every`), and in wide tests all cases. */
export function sampled<Case>(cases: readonly Case[], every: number): Case[] {
  return widely(
    cases.filter((_, place) => place % every === 0),
    cases.filter((_, place) => place % every > 0),
  )
}

/**
 * Environment variable that skips slow tests, whose file names contain "slow". `npm test` without
 * file names sets the variable.
 */
export const QUICK = "LATHE_TESTS_QUICK"
