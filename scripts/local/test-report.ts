import { z } from "zod"

export type Counts = { passed: number; failed: number; skipped: number }

const report = z.object({
  testResults: z.array(
    z.object({
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
})

/** Counts the tests of vitest's JSON report; a file that failed outside its tests counts as one. */
export function countTests(json: unknown): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const { status, assertionResults } of report.parse(json).testResults) {
    const failed = assertionResults.filter((test) => test.status === "failed").length
    const passed = assertionResults.filter((test) => test.status === "passed").length
    counts.passed += passed
    counts.failed += status === "failed" ? Math.max(failed, 1) : failed
    counts.skipped += assertionResults.length - passed - failed
  }
  return counts
}

/** The last line of a test run's output. */
export function summaryLine({ passed, failed, skipped }: Counts): string {
  const line = `${passed} passed, ${failed} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}
