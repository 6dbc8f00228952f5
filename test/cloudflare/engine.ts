import { mkdir } from "node:fs/promises"
import type { ChildProcess } from "node:child_process"
import type { IncomingMessage, ServerResponse } from "node:http"
import { join } from "node:path"
import { json, text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { startLoopbackServer } from "../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../scripts/cli/loopback-server.ts"
import { findFreePort } from "../../scripts/cli/ports.ts"
import { problemOfEnd, startProcess } from "./instance.ts"
import type { Surroundings } from "./instance.ts"
import { passOn } from "./pass-on.ts"
import { CALL_FAILED, INSTANCE_HEADER, URL_HEADER } from "./switches.ts"
import type { Switch } from "./switches.ts"

const NO_INSTANCE =
  "there is no container instance that can be provided to this durable object, try again later"
const TOO_MANY_STARTS = "you are requesting too many containers per second"
const NOT_LISTENING = "the container is not listening in the TCP address 10.0.0.1:8788"

/** Before the process of an instance begins, which takes another second or two to listen. */
const START_MS = [4000, 5000, 6000]
const STARTS_WINDOW_MS = 1000
/** How long an instance that has ended counts as running yet. */
const DRAIN_MS = 5000
/** Faults of the first tasks of a class, in order, if their switches are on. */
const STRIKES = ["early-sigterm", "bare-restarts"] as const
/** From the begin of such a task to what happens to its instance. */
const TASK_MS = 300
const GRACE_MS = 60_000

const startOrder = z.object({ env: z.record(z.string(), z.string()) })
const signalOrder = z.object({ signal: z.number() })

export type EngineOptions = {
  switches: ReadonlySet<Switch>
  folder: string
  /** Addresses of names, as the resolver of an instance has them. */
  names: Record<string, { address: string; family: number }[]>
  /** How many instances of a class there may be at once. */
  instancesMax: number
  /** The port of the Worker. */
  workerPort: () => number
}

/** A started instance, until its end. */
type Instance = {
  className: string
  around: Surroundings
  /** None before the instance is up. */
  child: ChildProcess | null
  /** Why it is to end, where it has no process yet. */
  isUnwanted: boolean
  ended: Promise<string>
}

/** Stands for the platform: it keeps a process for each object that has started its container. */
export class Engine implements AsyncDisposable {
  /** Events of instances and transfers, in order. */
  readonly happened: string[] = []
  readonly #options: EngineOptions
  readonly #opened = new AsyncDisposableStack()
  /** The latest start of each object, by its path. */
  readonly #latest = new Map<string, Instance>()
  /** Instances that count against the limit of their class. */
  readonly #counted = new Set<Instance>()
  /** How many tasks of each class were met with what a switch does. */
  readonly #strikes = new Map<string, number>()
  /** Instances that are started again without their environment once they have ended. */
  readonly #bare = new Set<Instance>()
  #server: LoopbackServer | null = null
  #startedAt = 0
  #starts = 0

  constructor(options: EngineOptions) {
    this.#options = options
  }

  /** Begins to listen; answers the port. */
  async open(): Promise<number> {
    this.#server = await startLoopbackServer((incoming, answer) => {
      this.#serve(incoming, answer).catch((error: unknown) => {
        if (answer.headersSent) answer.destroy()
        else answer.writeHead(CALL_FAILED).end(String(error))
      })
    })
    return this.#server.port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const instance of this.#latest.values()) kill(instance, "SIGKILL")
    await Promise.all([...this.#latest.values()].map(({ ended }) => ended))
    await this.#server?.[Symbol.asyncDispose]()
    await this.#opened.disposeAsync()
  }

  async #serve(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const [, className = "", id = "", word] = (incoming.url ?? "").split("/")
    if (className === "note") {
      this.happened.push(await text(incoming))
      return void answer.end()
    }
    const path = `${className}/${id}`
    const instance = this.#latest.get(path)
    if (word === "tcp") return await this.#call(instance, incoming, answer)
    const order = await json(incoming)
    if (word === "start") await this.#start(path, className, startOrder.parse(order).env)
    if (word === "ended") return void answer.end(await instance?.ended)
    if (instance && word === "signal") {
      kill(instance, signalOrder.parse(order).signal === 9 ? "SIGKILL" : "SIGTERM")
    }
    if (instance && word === "destroy") {
      kill(instance, "SIGKILL")
      await instance.ended
    }
    answer.end()
  }

  async #start(path: string, className: string, env: Record<string, string>): Promise<void> {
    const refusal = this.#refusalOf(className)
    if (refusal !== null) this.happened.push(`${className}: ${refusal}`)
    const around = await this.#makeSurroundings(path)
    const instance: Instance = {
      className,
      around,
      child: null,
      isUnwanted: false,
      ended: Promise.resolve(refusal ?? ""),
    }
    if (refusal === null) {
      this.#counted.add(instance)
      instance.ended = this.#run(instance, env).finally(() => void this.#release(instance))
    }
    this.#latest.set(path, instance)
  }

  #refusalOf(className: string): string | null {
    if (!this.#options.switches.has("refused-starts")) return null
    const count = [...this.#counted].filter((each) => each.className === className).length
    if (count >= this.#options.instancesMax) return NO_INSTANCE
    const isSecond = Date.now() - this.#startedAt < STARTS_WINDOW_MS
    if (isSecond) return TOO_MANY_STARTS
    this.#startedAt = Date.now()
    return null
  }

  /** Runs an instance to its end; answers the problem of that. */
  async #run(instance: Instance, env: Record<string, string>): Promise<string> {
    this.#starts += 1
    const startMs = START_MS[this.#starts % START_MS.length] ?? 0
    if (this.#options.switches.has("slow-starts")) {
      this.happened.push(`${instance.className}: a start of ${startMs} ms and more`)
      await sleep(startMs)
    }
    if (instance.isUnwanted) return ""
    instance.child = startProcess(instance.around, env)
    const problem = await problemOfEnd(instance.child)
    if (!this.#bare.delete(instance)) return problem
    // The platform has another try at the program, with what the image says alone.
    instance.child = startProcess(instance.around, {})
    const bare = await problemOfEnd(instance.child)
    this.happened.push(`${instance.className}: without its environment it ended: ${bare}`)
    return bare
  }

  async #release(instance: Instance): Promise<void> {
    if (this.#options.switches.has("refused-starts")) await sleep(DRAIN_MS)
    this.#counted.delete(instance)
  }

  /** Calls the port of an instance. */
  async #call(
    instance: Instance | undefined,
    incoming: IncomingMessage,
    answer: ServerResponse,
  ): Promise<void> {
    if (!instance?.child) throw new Error(NOT_LISTENING)
    const url = new URL(String(incoming.headers[URL_HEADER]))
    const path = url.pathname + url.search
    const { port } = instance.around
    const status = await passOn(incoming, answer, { port, path, headers: {} }).catch(() => null)
    if (status === null) throw new Error(NOT_LISTENING)
    if (status === 202 && incoming.method === "POST") void this.#strike(instance)
  }

  /** Does to an instance that has one of the first tasks of its class what the next switch says. */
  async #strike(instance: Instance): Promise<void> {
    const { className } = instance
    const count = this.#strikes.get(className) ?? 0
    const strike = STRIKES.filter((name) => this.#options.switches.has(name))[count]
    if (strike === undefined) return
    this.#strikes.set(className, count + 1)
    await sleep(TASK_MS)
    this.happened.push(`${className}: ${strike}`)
    if (strike === "bare-restarts") this.#bare.add(instance)
    kill(instance, strike === "bare-restarts" ? "SIGKILL" : "SIGTERM")
    setTimeout(() => kill(instance, "SIGKILL"), GRACE_MS).unref()
  }

  async #makeSurroundings(path: string): Promise<Surroundings> {
    const { folder, names, workerPort } = this.#options
    const workDir = join(folder, "work", path)
    await mkdir(workDir, { recursive: true })
    const wayOut = this.#opened.use(
      await startLoopbackServer((incoming, answer) => {
        const url = `http://${incoming.headers.host ?? ""}${incoming.url ?? "/"}`
        const headers = { [INSTANCE_HEADER]: path, [URL_HEADER]: url }
        const to = { port: workerPort(), path: "/", headers }
        passOn(incoming, answer, to).catch(() => answer.destroy())
      }),
    )
    const port = await findFreePort()
    return { port, wayOut: wayOut.port, workDir, names: JSON.stringify(names) }
  }
}

function kill(instance: Instance, signal: "SIGTERM" | "SIGKILL"): void {
  if (instance.child) instance.child.kill(signal)
  else if (signal === "SIGKILL") Object.assign(instance, { isUnwanted: true })
}
