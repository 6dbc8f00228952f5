import { once } from "node:events"
import { request as requestHttp } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"
import { z } from "zod"
import { runLiveCheckOnNewAccount } from "../../../scripts/deploy/live-check/run.ts"
import type { LiveCheckOptions } from "../../../scripts/deploy/live-check/run.ts"
import { requestOperatorRoute } from "../../../scripts/keys/operator.ts"
import type { OperatorAccess } from "../../../scripts/keys/operator.ts"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

export type Answer = {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** Changes the answer to a request, or makes one of its own; null lets it pass. */
export type Tamper = (path: string, pass: () => Promise<Answer>) => Promise<Answer> | null

/** A service behind a host of the platform, which answers in its place where a test says so. */
export type CheckStage = AsyncDisposable & {
  service: TestService
  operator: OperatorAccess
  tamper: Tamper
}

/** Starts a service whose public origin is that of the host in front. */
export async function openCheckStage(): Promise<CheckStage> {
  await using opened = new AsyncDisposableStack()
  const host: { target: string; tamper: Tamper } = { target: "", tamper: () => null }
  const front = opened.use(
    await startLoopbackServer((incoming, outgoing) => void answer(host, incoming, outgoing)),
  )
  const service = opened.use(
    await startService({
      PUBLIC_ORIGIN: front.origin,
      ALLOWED_PRIVATE_HOSTS: new URL(front.origin).host,
    }),
  )
  host.target = service.origin
  const kept = opened.move()
  return Object.assign(host, {
    service,
    operator: { ...service.operator, origin: front.origin },
    [Symbol.asyncDispose]: async () => await kept.disposeAsync(),
  })
}

async function answer(
  { target, tamper }: { target: string; tamper: Tamper },
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await buffer(incoming)
  async function pass(): Promise<Answer> {
    const { connection: _, "transfer-encoding": __, ...headers } = incoming.headers
    const sent = requestHttp(new URL(incoming.url ?? "/", target), {
      method: incoming.method ?? "GET",
      headers: { ...headers, "content-length": body.length },
    })
    sent.end(body)
    const [response] = z.tuple([z.custom<IncomingMessage>()]).parse(await once(sent, "response"))
    const { "transfer-encoding": ___, ...kept } = response.headers
    return { status: response.statusCode ?? 0, headers: kept, body: await buffer(response) }
  }
  try {
    const path = new URL(incoming.url ?? "/", target).pathname
    const { status, headers, body: bytes } = await (tamper(path, pass) ?? pass())
    outgoing.writeHead(status, { ...headers, "content-length": bytes.length }).end(bytes)
  } catch {
    outgoing.destroy()
  }
}

/** The report of a check and what it ended with, null where it passed. */
export type Report = { lines: string[]; ended: string | null }

/** Checks a service, with less patience than a deployment needs. */
export async function report(
  operator: OperatorAccess,
  options: Partial<LiveCheckOptions> = {},
): Promise<Report> {
  const lines: string[] = []
  const ended = await runLiveCheckOnNewAccount({
    operator,
    checkUrl: null,
    signal: new AbortController().signal,
    stepMsMax: 120_000,
    tell: (line) => lines.push(line),
    ...options,
  }).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  return { lines, ended }
}

/** The line of a step, and the one about its cause where it failed. */
export function linesOf({ lines }: Report, step: string): string {
  const at = lines.findIndex((line) => line.trim().startsWith(`${step} `))
  const next = lines[at + 1] ?? ""
  return [lines[at], ...(next.includes("Likely cause:") ? [next.trim()] : [])].join("\n")
}

const accounts = z.object({ accounts: z.array(z.object({ name: z.string().nullable() })) })

/** Names of the accounts that checks have left. */
export async function accountsLeft(operator: OperatorAccess): Promise<string[]> {
  const path = "/operator/accounts?search=deployment-check"
  return accounts
    .parse(await requestOperatorRoute(operator, "GET", path))
    .accounts.map(({ name }) => name ?? "")
}
