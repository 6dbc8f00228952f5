import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { CliError } from "../cli/cli-error.ts"
import { describeRightNeededByWrangler } from "./rights.ts"
import { runProgram, takeLastOutputLines } from "./run-program.ts"
import type { ProgramOptions, ProgramResult } from "./run-program.ts"

const manifestPath = createRequire(import.meta.url).resolve("wrangler/package.json")

/**
 * Environment variables with which wrangler asks no questions, sends no metrics and prints plain
 * text.
 */
const QUIET = { CI: "1", NO_COLOR: "1", FORCE_COLOR: "0", WRANGLER_SEND_METRICS: "false" }

/** Runs the installed wrangler until the program ends. */
export async function runWrangler(
  words: string[],
  { environment, ...options }: ProgramOptions = {},
): Promise<ProgramResult> {
  const program = join(dirname(manifestPath), "bin/wrangler.js")
  return await runProgram(process.execPath, [program, ...words], {
    ...options,
    environment: { ...QUIET, ...environment },
  })
}

/**
 * Runs the installed wrangler. Throws a CliError with the end of wrangler's output if the run
 * fails.
 */
export async function runWranglerOrThrow(
  words: string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const run = await runWrangler(words, options)
  if (run.isOk) return run
  throw new CliError(
    `wrangler ${words.slice(0, 3).join(" ")} said:\n${takeLastOutputLines(run)}${describeRightNeededByWrangler(run.output)}`,
  )
}

/**
 * Parses the JSON at the end of a program's output, which may begin with a warning. Returns null
 * without valid JSON.
 */
export function parseJsonOutput(text: string): unknown {
  try {
    return JSON.parse(text.slice(Math.max(0, text.search(/[[{]/))))
  } catch {
    return null
  }
}
