import { parseArgs } from "node:util"
import { Complaint, runScript } from "./local/complaint.ts"
import { runTool } from "./local/run-tool.ts"
import { formatTable } from "./local/table.ts"

type Check = { name: string; tool: string; words: string[] }

const checks: Check[] = [
  { name: "format", tool: "oxfmt", words: ["--check"] },
  { name: "lint and import rules", tool: "oxlint", words: [] },
  { name: "types of runner and scripts", tool: "tsc", words: [] },
  { name: "types of the Worker", tool: "tsc", words: ["--project", "src"] },
  { name: "types of the Worker's tests", tool: "tsc", words: ["--project", "test"] },
  { name: "dead code", tool: "knip", words: [] },
]

await runScript(async () => {
  if (wantsFix()) await fix()
  const results = await Promise.all(
    checks.map(async (check) => ({ ...check, ...(await runTool(check.tool, check.words)) })),
  )
  const failed = results.filter((result) => !result.isOk)
  for (const { name, output } of failed) console.log(`--- ${name}\n${output}\n`)
  console.log(
    formatTable(
      results.map(({ name, isOk, seconds }) => [
        name,
        isOk ? "ok" : "FAILED",
        `${seconds.toFixed(1)} s`,
      ]),
    ),
  )
  if (failed.length > 0) process.exitCode = 1
})

function wantsFix(): boolean {
  try {
    return parseArgs({ options: { fix: { type: "boolean" } } }).values.fix ?? false
  } catch (error) {
    throw new Complaint("Usage: npm run check [-- --fix]", { cause: error })
  }
}

/** Mends what the tools can mend; what they cannot shows in the checks that follow. */
async function fix(): Promise<void> {
  await runTool("oxlint", ["--fix"])
  await runTool("oxfmt", [])
}
