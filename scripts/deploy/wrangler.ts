import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { CliError } from "../local/cli-error.ts"
import { rightsForOutput } from "./rights.ts"
import { runProgram, tailOf } from "./run-program.ts"
import type { ProgramOptions, ProgramRun } from "./run-program.ts"

const manifestPath = createRequire(import.meta.url).resolve("wrangler/package.json")

/** No prompts, no metrics, and plain text as output. */
const QUIET = { CI: "1", NO_COLOR: "1", FORCE_COLOR: "0", WRANGLER_SEND_METRICS: "false" }

/** Runs the installed wrangler to its end. */
export async function runWrangler(
  words: string[],
  { environment, ...options }: ProgramOptions = {},
): Promise<ProgramRun> {
  const program = join(dirname(manifestPath), "bin/wrangler.js")
  return await runProgram(process.execPath, [program, ...words], {
    ...options,
    environment: { ...QUIET, ...environment },
  })
}

/** As `runWrangler`; throws a CliError with the end of its output where it fails. */
export async function runWranglerOrThrow(
  words: string[],
  options: ProgramOptions = {},
): Promise<ProgramRun> {
  const run = await runWrangler(words, options)
  if (run.isOk) return run
  throw new CliError(
    `wrangler ${words.slice(0, 3).join(" ")} said:\n${tailOf(run)}${rightsForOutput(run.output)}`,
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
