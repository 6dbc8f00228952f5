import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { CliError } from "./cli-error.ts"
import { wrapToDieWithParent } from "./parent-death.ts"

const READY_MS_MAX = 180_000
const STOP_MS_MAX = 20_000
const TAIL_LINES = 60

export type NodeProgramOptions = {
  /** Arguments of `node`: a script and its arguments. */
  words: [string, ...string[]]
  /** Working folder of the program; by default that of this process. */
  folder?: string | undefined
  /** All environment variables of the program, which inherits none. */
  environment: NodeJS.ProcessEnv
  /** Signal that stops the program when aborted, even before the program is ready. */
  signal?: AbortSignal | undefined
  /** Whether the program's stderr is also written to this process's stderr. */
  echoesErrors?: boolean
}

/** Node.js program that runs as a child process until it is disposed of. */
export type NodeProgram = AsyncDisposable & {
  pid: number
  /**
   * Resolves when the program has ended, with the exit code or the signal that killed the program.
   */
  exited: Promise<number | NodeJS.Signals>
  /** Calls `listener` with each line of the program's stdout from now on. */
  onLine(listener: (line: string) => void): void
  /** Calls `listener` with each line of the program's stderr from now on. */
  onErrorLine(listener: (line: string) => void): void
  /** Returns the last lines of the program's stdout and stderr. */
  tail(): { stdout: string; stderr: string }
}

/**
 * Starts a Node.js program in its own process group, so that Ctrl-C in the terminal does not stop
 * the program.
 */
export function startNodeProgram(options: NodeProgramOptions): NodeProgram {
  const [file, ...args] = wrapToDieWithParent([process.execPath, ...options.words])
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
 * Waits for the line of a program's stdout that reports that the program is ready. Returns that
 * line. Throws a CliError with the program's stderr if the program ends first, or after three
 * minutes.
 */
export async function waitForReadyLine(program: NodeProgram, readyLine: RegExp): Promise<string> {
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
