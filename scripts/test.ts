import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runScript } from "./local/complaint.ts"
import { countTests, summaryLine } from "./local/test-report.ts"
import type { Counts } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"

await runScript(async () => {
  await ensureSetUp()
  const folder = mkdtempSync(join(tmpdir(), "lathe-test-"))
  const reportPath = join(folder, "report.json")
  const exitCode = await runVitest(reportPath)
  const counts = readCounts(reportPath)
  rmSync(folder, { recursive: true })
  // vitest fails for more than tests: an error that no test caught, or no test at all.
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1
  if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1
  console.log(summaryLine(counts))
})

async function runVitest(reportPath: string): Promise<number | null> {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportPath}`]
  const words = ["run", ...reporters, ...process.argv.slice(2)]
  // wrangler would warn of secrets that the tests' own configuration gives.
  const env = { WRANGLER_LOG: "error", ...process.env }
  const child = spawn(process.execPath, ["node_modules/.bin/vitest", ...words], {
    env,
    stdio: "inherit",
  })
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
