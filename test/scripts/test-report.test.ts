import { expect, test } from "vitest"
import { countTests, summaryLine } from "../../scripts/local/test-report.ts"

function file(status: string, ...tests: string[]) {
  return { status, assertionResults: tests.map((state) => ({ status: state })) }
}

test("tests are counted by what became of them", () => {
  const testResults = [file("passed", "passed", "passed", "pending"), file("failed", "failed")]
  expect(countTests({ testResults })).toEqual({ passed: 2, failed: 1, skipped: 1 })
})

test("a file that failed to load counts as one failed test", () => {
  expect(countTests({ testResults: [file("failed")] })).toMatchObject({ failed: 1 })
})

test("the last line names skipped tests only where there are some", () => {
  expect(summaryLine({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed")
  expect(summaryLine({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped")
})
