import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { CliError } from "../local/cli-error.ts"
import { rightsForOutput } from "./rights.ts"

const TAIL_LINES = 25
const manifestPath = createRequire(import.meta.url).resolve("wrangler/package.json")

/** No prompts, no metrics, and plain text as output. */
const QUIET = { CI: "1", NO_COLOR: "1", FORCE_COLOR: "0", WRANGLER_SEND_METRICS: "false" }

export type WranglerRun = { isOk: boolean; stdout: string; output: string }

export type WranglerOptions = {
  environment?: Record<string, string>
  /** A file that its output is appended to while it runs. */
  logPath?: string
}

/** Runs the installed wrangler to its end. */
export async function runWrangler(
  words: string[],
  { environment = {}, logPath }: WranglerOptions = {},
): Promise<WranglerRun> {
  const program = join(dirname(manifestPath), "bin/wrangler.js")
  const child = spawn(process.execPath, [program, ...words], {
    env: { ...process.env, ...QUIET, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const run = { stdout: "", output: "" }
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    run.stdout += text
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      run.output += text
      if (logPath !== undefined) appendFileSync(logPath, text)
    })
  }
  await once(child, "close")
  const output = stripVTControlCharacters(run.output).trim()
  return { isOk: child.exitCode === 0, stdout: run.stdout, output }
}

/** As `runWrangler`; throws a CliError with the end of its output where it fails. */
export async function runWranglerOrThrow(
  words: string[],
  options: WranglerOptions = {},
): Promise<WranglerRun> {
  const run = await runWrangler(words, options)
  if (run.isOk) return run
  const tail = run.output.split("\n").slice(-TAIL_LINES).join("\n")
  throw new CliError(
    `wrangler ${words.slice(0, 3).join(" ")} said:\n${tail}${rightsForOutput(run.output)}`,
  )
}

/** The JSON at the end of a run's output, perhaps below a warning; null where there is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.slice(Math.max(0, text.search(/[[{]/))))
  } catch {
    return null
  }
}
