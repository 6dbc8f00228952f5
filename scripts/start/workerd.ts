import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { rmSync } from "node:fs"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { CliError } from "../cli/cli-error.ts"
import { log } from "./log.ts"
import { wrapToDieWithParent } from "../cli/parent-death.ts"
import { computeRestartDelayMs } from "./runner-process.ts"
import { z } from "zod"
import { formatLogLine } from "../../src/contract/log-line.ts"
import { parseJson } from "../cli/parse-json.ts"

const QUICK_DEATH_MS = 5000
const TAIL_LINES = 20
const FIRST_FREE_FD = 4

export type WorkerdOptions = {
  /** Path of the workerd program. */
  program: string
  /** Arguments of `workerd serve`. */
  words: string[]
  /** Complete environment of workerd, with the Worker's settings and secrets. */
  environment: Record<string, string>
  /** Paths of workerd's UNIX sockets by name. workerd is ready when it listens on all of them. */
  sockets: Record<string, string>
  /** File descriptors of sockets that listen before workerd starts, by the name of the socket. */
  descriptors: Record<string, number>
  /** Function that is called when a restarted workerd is ready, with the time of the new start. */
  onRestart: (startedAt: number) => void
}

/**
 * Starts workerd and resolves when workerd listens. Restarts workerd after a crash. Throws a
 * CliError with the end of workerd's output if the start fails.
 */
export async function startWorkerd(options: WorkerdOptions): Promise<AsyncDisposable> {
  const stopping = new AbortController()
  let current = launch(options)
  if (!(await current.ready)) throw new CliError(`workerd does not start.\n${current.said()}`)
  const ended = keepRunning()
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      current.child.kill("SIGKILL")
      await ended
    },
  }

  async function keepRunning(): Promise<void> {
    let quickDeaths = 0
    let bornAt = Date.now()
    for (;;) {
      await current.exited
      if (stopping.signal.aborted) return
      quickDeaths = Date.now() - bornAt < QUICK_DEATH_MS ? quickDeaths + 1 : 0
      await sleep(computeRestartDelayMs(quickDeaths), undefined, stopping).catch(() => undefined)
      if (stopping.signal.aborted) return
      bornAt = Date.now()
      current = launch(options)
      if (!(await current.ready)) continue
      log("error", "workerd.restarted", { message: "workerd was restarted." })
      options.onRestart(bornAt)
    }
  }
}

type Launched = {
  child: ChildProcess
  /**
   * Resolves to true when workerd listens on all its sockets, and to false if workerd ends before.
   */
  ready: Promise<boolean>
  exited: Promise<void>
  /** Returns the last lines of workerd's output. */
  said(): string
}

function launch({ program, words, environment, sockets, descriptors }: WorkerdOptions): Launched {
  // Removes the sockets of a dead workerd, because workerd cannot listen at an existing path.
  for (const path of Object.values(sockets)) rmSync(path, { force: true })
  const inherited = Object.entries(descriptors)
  const listening = inherited.map(([name], at) => `--socket-fd=${name}=${FIRST_FREE_FD + at}`)
  const serve = ["serve", "--control-fd=3", ...listening, ...words]
  const [file, ...rest] = wrapToDieWithParent([program, ...serve])
  // Starts workerd in its own process group, so that Ctrl-C in the terminal does not stop workerd.
  const child = spawn(file, rest, {
    env: environment,
    stdio: ["ignore", "pipe", "pipe", "pipe", ...inherited.map(([, descriptor]) => descriptor)],
    detached: true,
  })
  const tail: string[] = []
  const exited = once(child, "close").then(
    () => undefined,
    (error: unknown) => void tail.push(String(error)),
  )
  const pass = makeWorkerdLogger((line) => console.log(line))
  for (const stream of [child.stdout, child.stderr]) {
    if (stream)
      createInterface(stream).on("line", (line) => {
        if (tail.push(line) > TAIL_LINES) tail.shift()
        pass(line)
      })
  }
  const ready = Promise.race([
    untilListening(child.stdio[3], Object.keys(sockets)),
    exited.then(() => false),
  ])
  return { child, ready, exited, said: () => tail.join("\n") }
}

async function untilListening(control: unknown, names: string[]): Promise<boolean> {
  const left = new Set(names)
  if (!(control instanceof Readable)) throw new Error("workerd has no control pipe")
  for await (const line of createInterface(control)) {
    left.delete(/"event":"listen","socket":"([^"]+)"/.exec(line)?.[1] ?? "")
    if (left.size === 0) return true
  }
  return false
}

const structured = z.object({ level: z.string(), message: z.string() })

const LEVELS = { debug: "debug", warn: "warn", error: "error" } as const

/** Pattern of workerd's internal messages that are not logged, because they require no action. */
const OWN_MATTERS =
  /\$LLVM_SYMBOLIZER is not set|took recursive isolate lock|CODE_MOVED for unknown code block|compile cache failed its compatibility check|does not export a connect\(\) function|Received a connect event|stack:(?: (?:0|[a-f\d]{4,})){3,}/

/**
 * Pattern of workerd's first message when it crashes. From this message on, internal messages are
 * logged too.
 */
const CRASH = /^\*\*\* (?:std::terminate\(\)|Fatal uncaught|Received signal|Uncaught exception)/

/**
 * Makes the function that passes output lines of one workerd process to the log. Log entries of the
 * Worker stay unchanged. Other messages become log entries.
 */
export function makeWorkerdLogger(print: (line: string) => void): (line: string) => void {
  let isCrashing = false
  return (line) => {
    const { level, message } = structured.safeParse(parseJson(line)).data ?? {
      level: "info",
      message: line,
    }
    isCrashing ||= CRASH.test(message)
    if (OWN_MATTERS.test(message) && !isCrashing) return
    if (message.startsWith('{"time":')) return print(message)
    const known = isLevel(level) ? LEVELS[level] : "info"
    print(
      formatLogLine(
        { part: "worker", level: isCrashing ? "error" : known, event: "said" },
        { message },
      ),
    )
  }
}

function isLevel(level: string): level is keyof typeof LEVELS {
  return level in LEVELS
}
