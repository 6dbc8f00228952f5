import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { CliError } from "./cli-error.ts"
import { diesWithParent } from "./parent-death.ts"

const READY_MS_MAX = 180_000
const STOP_MS_MAX = 20_000
const TAIL_LINES = 60

export type ProgramOptions = {
  /** The words after `node`: a script and its arguments. */
  words: [string, ...string[]]
  /** Where it runs; by default the folder of this process. */
  folder?: string | undefined
  /** All of its environment. */
  environment: NodeJS.ProcessEnv
  /** Stops it when aborted, also before it is ready. */
  signal?: AbortSignal | undefined
  /** Whether its stderr goes to this process's stderr as well. */
  echoesErrors?: boolean
}

/** A Node program that runs beside this process until it is disposed of. */
export type Program = AsyncDisposable & {
  pid: number
  /** Resolves when it is gone, with its exit code or the signal that ended it. */
  exited: Promise<number | NodeJS.Signals>
  /** Calls back with each line of its stdout from now on. */
  onLine(listener: (line: string) => void): void
  /** Calls back with each line of its stderr from now on. */
  onErrorLine(listener: (line: string) => void): void
  /** The last lines of its stdout and then of its stderr. */
  tail(): { stdout: string; stderr: string }
}

/** Starts a program in a process group of its own, which the terminal's Ctrl-C does not reach. */
export function startProgram(options: ProgramOptions): Program {
  const [file, ...args] = diesWithParent([process.execPath, ...options.words])
  const child = spawn(file, args, {
    cwd: options.folder,
    env: options.environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
  const lines = createInterface(child.stdout)
  const errorLines = createInterface(child.stderr)
  const tails = { stdout: keepTail(lines), stderr: keepTail(errorLines) }
  if (options.echoesErrors) errorLines.on("line", (line) => console.error(line))
  const exited = once(child, "exit").then(() => child.exitCode ?? child.signalCode ?? 0)
  options.signal?.addEventListener("abort", () => child.kill("SIGTERM"), { once: true })
  return {
    pid: child.pid ?? 0,
    exited,
    onLine: (listener) => void lines.on("line", listener),
    onErrorLine: (listener) => void errorLines.on("line", listener),
    tail: () => ({ stdout: tails.stdout.join("\n"), stderr: tails.stderr.join("\n") }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill("SIGTERM")
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX)
      await exited
      clearTimeout(timer)
    },
  }
}

/**
 * Waits for a line of a program's stdout that says that it is ready, and returns it. Throws a
 * CliError with what it wrote to stderr where it ends before or takes too long.
 */
export async function untilReadyLine(program: Program, readyLine: RegExp): Promise<string> {
  const ready = new Promise<string>((resolve) => {
    program.onLine((line) => readyLine.test(line) && resolve(line))
  })
  const failed = Promise.race([
    program.exited.then((code) => `The program ended with ${code} before it was ready.`),
    sleep(READY_MS_MAX, "The program was not ready in time.", { ref: false }),
  ])
  const outcome = await Promise.race([
    ready.then((line) => ({ line })),
    failed.then((reason) => ({ reason })),
  ])
  if ("line" in outcome) return outcome.line
  throw new CliError(program.tail().stderr.trim() || outcome.reason)
}

function keepTail(lines: NodeJS.EventEmitter): string[] {
  const tail: string[] = []
  lines.on("line", (line: string) => {
    tail.push(line)
    if (tail.length > TAIL_LINES) tail.shift()
  })
  return tail
}
