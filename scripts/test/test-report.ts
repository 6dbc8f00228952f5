import { z } from "zod"

export type TestCounts = { passed: number; failed: number; skipped: number }

const report = z.object({
  testResults: z.array(
    z.object({
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
})

/**
 * Counts the tests of Vitest's JSON report. A file that fails outside its tests counts as one
 * failed test.
 */
export function countTests(json: unknown): TestCounts {
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

/** Formats the counts of a test run for the last line of its output. */
export function formatSummary({ passed, failed, skipped }: TestCounts): string {
  const line = `${passed} passed, ${failed} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}
