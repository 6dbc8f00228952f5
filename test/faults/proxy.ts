import { once } from "node:events"
import { Agent, createServer, request as requestHttp } from "node:http"
import type { IncomingMessage, Server } from "node:http"
import { buffer } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"

export type Answer = { status: number; headers: Record<string, string>; body: Buffer }

/** A request of the runner on its way to the Worker. */
export type Passing = {
  /** The job whose task asks; empty where no task does. */
  jobId: string
  /** What it is, as `inputs`, `outputs parts 1`, `reports started` or `/operator/runner-up`. */
  call: string
  /** Whether the runner still waits for an answer. */
  isWaitedFor(): boolean
  /** Hands it to the Worker; null where there is no answer. May be called again. */
  forward(): Promise<Answer | null>
}

/** Decides about a request: its answer, "cut" for none at all, or null for no opinion. */
export type Rule = (passing: Passing) => Promise<Answer | "cut"> | null

/** Stands between runner and Worker: every input, output and report goes through it. */
export type Proxy = AsyncDisposable & {
  origin: string
  /** Where the Worker is; there is none before it is set. */
  setTarget(origin: string): void
  /** The first rule that has an opinion decides; `remove` takes it away again. */
  addRule(rule: Rule): { remove(): void }
  /** Breaks all connections and takes no new ones for so long. */
  cut(ms: number): Promise<void>
  /** Calls back with each request that the Worker answered. */
  onAnswered: (passing: Passing, answer: Answer) => void
}

const kindOf = z.looseObject({ kind: z.string() })
const agent = new Agent({ keepAlive: true })

export async function openProxy(): Promise<Proxy> {
  const rules = new Set<Rule>()
  let target = ""
  let isCut = false
  const server = createServer((incoming, outgoing) => {
    if (isCut) return void incoming.destroy()
    void decide(incoming).then(
      (answer) => {
        if (answer === "cut") outgoing.destroy()
        else outgoing.writeHead(answer.status, answer.headers).end(answer.body)
      },
      () => outgoing.destroy(),
    )
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  async function decide(incoming: IncomingMessage): Promise<Answer | "cut"> {
    const body = await buffer(incoming)
    const passing: Passing = {
      ...describe(incoming, body),
      isWaitedFor: () => !incoming.socket.destroyed,
      forward: async () => {
        const answer = isCut ? null : await send(target, incoming, body)
        if (answer) proxy.onAnswered(passing, answer)
        return answer
      },
    }
    for (const rule of rules) {
      const decided = rule(passing)
      if (decided) return await decided
    }
    return (await passing.forward()) ?? "cut"
  }
  const proxy: Proxy = {
    origin: `http://127.0.0.1:${portOf(server)}`,
    setTarget: (origin) => {
      target = origin
    },
    addRule(rule) {
      rules.add(rule)
      return { remove: () => rules.delete(rule) }
    },
    async cut(ms) {
      isCut = true
      server.closeAllConnections()
      await sleep(ms)
      isCut = false
    },
    onAnswered: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
  return proxy
}

/** An answer of the proxy's own. */
export function say(status: number): Answer {
  return { status, headers: {}, body: Buffer.from("{}") }
}

export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a server has no port")
  return address.port
}

/** A task's token names its account, job, task and fence before the signature. */
function describe(incoming: IncomingMessage, body: Buffer): Pick<Passing, "jobId" | "call"> {
  const path = new URL(incoming.url ?? "/", "http://proxy").pathname
  const [, , , room, , ...rest] = path.split("/")
  if (!path.startsWith("/io/") || room === undefined) return { jobId: "", call: path }
  const jobId = incoming.headers.authorization?.split(".")[1] ?? ""
  if (room !== "reports") return { jobId, call: [room, ...rest].join(" ") }
  const told = kindOf.safeParse(parseJson(body.toString()))
  return { jobId, call: `reports ${told.data?.kind ?? ""}` }
}

async function send(
  target: string,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<Answer | null> {
  const { connection: _, host: __, "transfer-encoding": ___, ...headers } = incoming.headers
  const outgoing = requestHttp(new URL(incoming.url ?? "/", target), {
    agent,
    method: incoming.method ?? "GET",
    headers: { ...headers, "content-length": body.length },
  })
  try {
    const arriving = once(outgoing, "response")
    outgoing.end(body)
    const [response] = z.tuple([z.custom<IncomingMessage>()]).parse(await arriving)
    return await readAnswer(response)
  } catch {
    return null
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const headers: Record<string, string> = {}
  for (const name of ["content-type", "content-range"]) {
    const value = response.headers[name]
    if (typeof value === "string") headers[name] = value
  }
  return { status: response.statusCode ?? 0, headers, body: await buffer(response) }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
