import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { findBrokenLinks } from "./check/document-links.ts"
import { findLayoutProblems, LAYOUT_LIMITS } from "./check/layout.ts"
import { findLockProblems } from "./check/lock-file.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { runTool } from "./local/run-tool.ts"
import { formatTable } from "./local/table.ts"

type Outcome = { isOk: boolean; output: string }
type Check = { name: string; run: () => Outcome | Promise<Outcome> }

/** Results of earlier checks by contents of files; clones that share `node_modules` have their own. */
const CACHE = join("node_modules/.cache/lathe-check", process.cwd())

const checks: Check[] = [
  { name: "lock file", run: checkLockFile },
  { name: "layout", run: checkLayout },
  { name: "links of documents", run: checkDocumentLinks },
  { name: "format", run: () => runTool("oxfmt", ["--check"]) },
  { name: "lint and import rules", run: () => runTool("oxlint", []) },
  { name: "types of runner and scripts", run: () => checkTypes(".") },
  { name: "types of the Worker", run: () => checkTypes("src") },
  { name: "types of the Worker's tests", run: () => checkTypes("test") },
  { name: "types of the dashboard's scripts", run: () => checkTypes("src/dashboard/assets") },
  { name: "dead code", run: () => runTool("knip", ["--cache", "--cache-location", CACHE]) },
]

await runScript(async () => {
  if (wantsFix()) await fix()
  const results = await Promise.all(checks.map(runTimed))
  const failed = results.filter((result) => !result.isOk)
  for (const { name, output } of failed) console.log(`--- ${name}\n${output}\n`)
  const rows = results.map(({ name, isOk, seconds }) => [
    name,
    isOk ? "ok" : "FAILED",
    `${seconds.toFixed(1)} s`,
  ])
  console.log(formatTable(rows))
  if (failed.length > 0) process.exitCode = 1
})

async function runTimed({ name, run }: Check) {
  const startedMs = performance.now()
  const outcome = await run()
  return { name, ...outcome, seconds: (performance.now() - startedMs) / 1000 }
}

async function checkTypes(project: string): Promise<Outcome> {
  const known = join(CACHE, project, "types.tsbuildinfo")
  return await runTool("tsc", ["--project", project, "--incremental", "--tsBuildInfoFile", known])
}

function checkLockFile(): Outcome {
  const problems = findLockProblems(readJson("package.json"), readJson("package-lock.json"))
  const advice =
    "`npm install` updates package-lock.json; docs/decisions/0002-lock-file.md says more."
  return { isOk: problems.length === 0, output: [...problems, advice].join("\n") }
}

function checkLayout(): Outcome {
  const problems = findLayoutProblems(process.cwd(), LAYOUT_LIMITS)
  return { isOk: problems.length === 0, output: problems.join("\n") }
}

function checkDocumentLinks(): Outcome {
  const problems = findBrokenLinks(process.cwd())
  return { isOk: problems.length === 0, output: problems.join("\n") }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"))
}

function wantsFix(): boolean {
  try {
    return parseArgs({ options: { fix: { type: "boolean" } } }).values.fix ?? false
  } catch (error) {
    throw new CliError("Usage: npm run check [-- --fix]", { cause: error })
  }
}

/** Corrects what the tools can correct; the checks that follow report the rest. */
async function fix(): Promise<void> {
  await runTool("oxlint", ["--fix"])
  await runTool("oxfmt", [])
}
