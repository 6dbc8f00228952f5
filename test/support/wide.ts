/** What asks for wide tests; `npm run test:web`, `test:sound` and `test:renditions` set it. */
export const WIDE = "LATHE_TESTS_WIDE"

/** The cases of a table: a few that show each kind of thing once, and in wide tests all others too. */
export function widely<Case>(few: readonly Case[], others: readonly Case[]): Case[] {
  return process.env[WIDE] === "true" ? [...few, ...others] : [...few]
}
