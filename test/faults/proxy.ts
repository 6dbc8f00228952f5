import { once } from "node:events"
import { Agent, request as requestHttp } from "node:http"
import type { IncomingMessage } from "node:http"
import { buffer } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { startLoopbackServer } from "../../scripts/cli/loopback-server.ts"
import { parseJson } from "../../scripts/cli/parse-json.ts"

export type Answer = { status: number; headers: Record<string, string>; body: Buffer }

/** A request of the runner on its way to the Worker. */
export type Passing = {
  /** The job whose task asks; empty where no task does. */
  jobId: string
  /**
   * Kind of the call, such as `inputs`, `outputs parts 1`, `reports started` or
   * `/operator/runner-up`.
   */
  call: string
  /** Whether the runner still waits for an answer. */
  isWaitedFor(): boolean
  /** Forwards it to the Worker; null where there is no answer. May be called again. */
  forward(): Promise<Answer | null>
}

/** Handles a request: returns its answer, "cut" for a broken connection, or null to let it pass. */
export type Rule = (passing: Passing) => Promise<Answer | "cut"> | null

/** A proxy between runner and Worker, which every input, output and report passes. */
export type Proxy = AsyncDisposable & {
  origin: string
  /** Sets the Worker's origin; nothing is forwarded before. */
  setTarget(origin: string): void
  /** The first rule that does not return null decides. */
  addRule(rule: Rule): { remove(): void }
  /** Breaks all connections and accepts no new ones for this long. */
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
  const server = await startLoopbackServer((incoming, outgoing) => {
    if (isCut) return void incoming.destroy()
    void decide(incoming).then(
      (answer) => {
        if (answer === "cut") outgoing.destroy()
        else outgoing.writeHead(answer.status, answer.headers).end(answer.body)
      },
      () => outgoing.destroy(),
    )
  })
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
    origin: server.origin,
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
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
  }
  return proxy
}

/** An answer of the proxy's own. */
export function say(status: number): Answer {
  return { status, headers: {}, body: Buffer.from("{}") }
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
