import { expect, test } from "vitest"
import { countTests, formatSummary } from "../../scripts/test/test-report.ts"

function file(status: string, ...tests: string[]) {
  return { status, assertionResults: tests.map((state) => ({ status: state })) }
}

test("tests are counted by their result", () => {
  const testResults = [file("passed", "passed", "passed", "pending"), file("failed", "failed")]
  expect(countTests({ testResults })).toEqual({ passed: 2, failed: 1, skipped: 1 })
})

test("a file that failed to load counts as one failed test", () => {
  expect(countTests({ testResults: [file("failed")] })).toMatchObject({ failed: 1 })
})

test("the last line names skipped tests only if there are any", () => {
  expect(formatSummary({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed")
  expect(formatSummary({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped")
})
