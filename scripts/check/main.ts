import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { findBrokenLinks } from "./document-links.ts"
import { findLayoutProblems, LAYOUT_LIMITS } from "./layout.ts"
import { findLockProblems } from "./lock-file.ts"
import { findForbiddenImports, hasCurrentModulesTable, replaceModulesTable } from "./modules.ts"
import { CliError, runScript } from "../cli/cli-error.ts"
import { findWordProblems } from "./words.ts"
import { formatTable } from "../cli/table.ts"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"

type Outcome = { isOk: boolean; output: string }
type Check = { name: string; run: () => Outcome | Promise<Outcome> }

/**
 * Folder of the checkers' caches. Each clone has its own folder, because clones may share
 * `node_modules`.
 */
const CACHE = join("node_modules/.cache/lathe-check", process.cwd())

/** Document with the table of modules that modules.ts generates. */
const ARCHITECTURE = "docs/develop/architecture.md"

const checks: Check[] = [
  { name: "lock file", run: checkLockFile },
  { name: "layout", run: checkLayout },
  { name: "modules", run: checkModules },
  { name: "words", run: checkWords },
  { name: "links of documents", run: checkDocumentLinks },
  { name: "format", run: () => runTool("oxfmt", ["--check"]) },
  { name: "lint and import rules", run: () => runTool("oxlint", []) },
  { name: "types of runner and scripts", run: () => checkTypes(".") },
  { name: "types of the Worker", run: () => checkTypes("src") },
  { name: "types of the Worker's tests", run: () => checkTypes("test") },
  { name: "types of the dashboard's scripts", run: () => checkTypes("src/dashboard/assets") },
  { name: "types of the site's scripts", run: () => checkTypes("scripts/site/theme") },
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

function checkModules(): Outcome {
  const problems = findForbiddenImports(process.cwd())
  const text = readFileSync(ARCHITECTURE, "utf8")
  if (!hasCurrentModulesTable(text)) {
    problems.push(
      `${ARCHITECTURE} shows another table of modules: \`npm run check -- --fix\` writes it.`,
    )
  }
  return { isOk: problems.length === 0, output: problems.join("\n") }
}

function checkWords(): Outcome {
  const problems = findWordProblems(process.cwd())
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

/**
 * Writes the table of modules, and runs the automatic corrections of the linter and the formatter.
 * Later checks report the remaining problems.
 */
async function fix(): Promise<void> {
  writeFileSync(ARCHITECTURE, replaceModulesTable(readFileSync(ARCHITECTURE, "utf8")))
  await runTool("oxlint", ["--fix"])
  await runTool("oxfmt", [])
}

/** Runs a program of an npm package until the program ends. Returns the output. */
async function runTool(name: string, words: string[]): Promise<{ isOk: boolean; output: string }> {
  const child = spawn(process.execPath, [`node_modules/.bin/${name}`, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  })
  const printed = Promise.all([text(child.stdout), text(child.stderr)])
  await once(child, "close")
  return { isOk: child.exitCode === 0, output: (await printed).join("").trim() }
}
