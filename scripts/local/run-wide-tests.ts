import { WIDE } from "../../test/support/wide.ts"
import { runTests } from "./run-tests.ts"
import { summaryLine } from "./test-report.ts"

/** Runs the tests that the command line names, else these, with all cases of their tables. */
export async function runWideTests(tests: string[]): Promise<void> {
  process.env[WIDE] = "true"
  const named = process.argv.slice(2)
  console.log(summaryLine(await runTests(named.length > 0 ? named : tests)))
}
