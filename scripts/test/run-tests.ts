import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { countTests } from "./test-report.ts"
import type { TestCounts } from "./test-report.ts"

/**
 * Runs Vitest with additional arguments. Returns the numbers of passed, failed and skipped tests.
 * Sets the exit code 1 if a test fails or none passes.
 */
export async function runTests(words: string[], timeLimitMs?: number): Promise<TestCounts> {
  const folder = mkdtempSync(join(tmpdir(), "lathe-test-"))
  const reportPath = join(folder, "report.json")
  const exitCode = await runVitest(words, reportPath, timeLimitMs)
  const counts = readCounts(reportPath)
  rmSync(folder, { recursive: true })
  // Counts a failure if Vitest failed without a failed test, because of an error outside tests or
  // because no test was found.
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1
  if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1
  return counts
}

async function runVitest(
  words: string[],
  reportPath: string,
  timeLimitMs: number | undefined,
): Promise<number | null> {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportPath}`]
  // Suppresses wrangler's warnings about missing secrets, because the configuration of the tests
  // sets the secrets.
  const env = { WRANGLER_LOG: "error", ...process.env }
  const child = spawn(
    process.execPath,
    ["node_modules/.bin/vitest", "run", ...reporters, ...words],
    {
      env,
      stdio: "inherit",
      timeout: timeLimitMs,
    },
  )
  await once(child, "close")
  return child.exitCode
}

function readCounts(reportPath: string): TestCounts {
  try {
    return countTests(JSON.parse(readFileSync(reportPath, "utf8")))
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}
