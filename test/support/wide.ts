/** Asks for wide tests; `scripts/test/suite.ts` sets it. */
export const WIDE = "LATHE_TESTS_WIDE"

/** The cases of a table: a few that show each kind of thing once, and in wide tests all others too. */
export function widely<Case>(few: readonly Case[], others: readonly Case[]): Case[] {
  return process.env[WIDE] === "true" ? [...few, ...others] : [...few]
}

/** Every n-th case of a table (`every`); all cases in wide tests. */
export function sampled<Case>(cases: readonly Case[], every: number): Case[] {
  return widely(
    cases.filter((_, place) => place % every === 0),
    cases.filter((_, place) => place % every > 0),
  )
}

/** Asks for no slow tests, which are in files named so; `npm test` sets it where it names no test. */
export const QUICK = "LATHE_TESTS_QUICK"
