import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"

const TAIL_LINES = 25

export type ProgramRun = { isOk: boolean; stdout: string; output: string }

export type ProgramOptions = {
  environment?: Record<string, string>
  /** A file that the output is appended to while the program runs. */
  logPath?: string
  /** What the program reads from its stdin; without it there is nothing to read. */
  input?: string
}

/** Runs a program to its end; one that cannot be started has failed. */
export async function runProgram(
  program: string,
  words: string[],
  { environment = {}, logPath, input = "" }: ProgramOptions = {},
): Promise<ProgramRun> {
  const child = spawn(program, words, {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  })
  // A program may end without reading it.
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

/** The end of a run's output, which tells why it failed. */
export function tailOf({ output }: ProgramRun): string {
  return output.split("\n").slice(-TAIL_LINES).join("\n")
}
