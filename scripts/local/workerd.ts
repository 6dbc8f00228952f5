import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { rmSync } from "node:fs"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { CliError } from "./cli-error.ts"
import { log } from "./log.ts"
import { diesWithParent } from "./parent-death.ts"
import { restartDelayMs } from "./runner-process.ts"
import { makeWorkerdLog } from "./workerd-log.ts"

const QUICK_DEATH_MS = 5000
const TAIL_LINES = 20
const FIRST_FREE_FD = 4

export type WorkerdOptions = {
  /** Path of the program. */
  program: string
  /** The words after `workerd serve`. */
  words: string[]
  /** All of its environment, which has the Worker's settings and secrets. */
  environment: Record<string, string>
  /** Paths of its sockets by name; it is ready when it listens on all. */
  sockets: Record<string, string>
  /** Descriptors of sockets that listen already, by name. */
  descriptors: Record<string, number>
  /** Called when one that died is ready again, with when it was started. */
  onRestart: (startedAt: number) => void
}

/**
 * Starts workerd and returns when it listens. When it dies, it is started again. Throws a CliError
 * with what it said where it does not come up.
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
      await sleep(restartDelayMs(quickDeaths), undefined, stopping).catch(() => undefined)
      if (stopping.signal.aborted) return
      bornAt = Date.now()
      current = launch(options)
      if (!(await current.ready)) continue
      log("error", "workerd.restarted", { message: "workerd was started again." })
      options.onRestart(bornAt)
    }
  }
}

type Launched = {
  child: ChildProcess
  /** Whether it came to listen on all its sockets before it ended. */
  ready: Promise<boolean>
  exited: Promise<void>
  /** The last lines that it wrote. */
  said(): string
}

function launch({ program, words, environment, sockets, descriptors }: WorkerdOptions): Launched {
  // It does not listen where one that died has left a socket.
  for (const path of Object.values(sockets)) rmSync(path, { force: true })
  const inherited = Object.entries(descriptors)
  const listening = inherited.map(([name], at) => `--socket-fd=${name}=${FIRST_FREE_FD + at}`)
  const serve = ["serve", "--control-fd=3", ...listening, ...words]
  const [file, ...rest] = diesWithParent([program, ...serve])
  // A process group of its own spares it the terminal's Ctrl-C.
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
  const pass = makeWorkerdLog((line) => console.log(line))
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
