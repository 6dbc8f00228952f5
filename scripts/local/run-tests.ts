import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { countTests } from "./test-report.ts"
import type { Counts } from "./test-report.ts"

/** Runs vitest with additional arguments and counts its tests. */
export async function runTests(words: string[], timeLimitMs?: number): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), "lathe-test-"))
  const reportPath = join(folder, "report.json")
  const exitCode = await runVitest(words, reportPath, timeLimitMs)
  const counts = readCounts(reportPath)
  rmSync(folder, { recursive: true })
  // vitest also fails for an error outside of tests, and where there is no test.
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
  // Else wrangler warns of secrets, which the tests' configuration has.
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

function readCounts(reportPath: string): Counts {
  try {
    return countTests(JSON.parse(readFileSync(reportPath, "utf8")))
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}
