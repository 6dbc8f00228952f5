import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"

const TAIL_LINES = 25

export type ProgramResult = { isOk: boolean; stdout: string; output: string }

export type ProgramOptions = {
  environment?: Record<string, string>
  /** File to which the output is appended while the program runs. */
  logPath?: string
  /** Standard input of the program; empty by default. */
  input?: string
}

/**
 * Runs a program until it ends, and returns the output of the program. Returns a failure if the
 * program cannot be started.
 */
export async function runProgram(
  program: string,
  words: string[],
  { environment = {}, logPath, input = "" }: ProgramOptions = {},
): Promise<ProgramResult> {
  const child = spawn(program, words, {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  })
  // Ignores errors of the standard input, because a program may end without reading it.
  child.stdin.on("error", () => undefined).end(input)
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
  try {
    await once(child, "close")
  } catch (error) {
    run.output += String(error)
  }
  const output = stripVTControlCharacters(run.output).trim()
  return { isOk: child.exitCode === 0, stdout: run.stdout, output }
}

/** Returns the last lines of a program's output, which usually contain the reason of a failure. */
export function takeLastOutputLines({ output }: ProgramResult): string {
  return output.split("\n").slice(-TAIL_LINES).join("\n")
}
