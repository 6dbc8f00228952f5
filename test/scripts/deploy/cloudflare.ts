import type { IncomingMessage, ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"
import type { OperatorAccess } from "../../../scripts/keys/operator.ts"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { answerRegistry } from "./cloudflare-registry.ts"
import { answerApi } from "./cloudflare-routes.ts"
import { refusal } from "./cloudflare-scripts.ts"
import { makeCloudflareState } from "./cloudflare-state.ts"
import type { CloudflareState } from "./cloudflare-state.ts"

export type CloudflareStandIn = CloudflareState & {
  /** Service behind the deployed Worker; null: it answers its health and nothing else. */
  service: OperatorAccess | null
  /** Where the deployed service answers. */
  origin: string
  apiBase: string
  close(): Promise<void>
}

/** As much of Cloudflare's API as a deployment needs, with its state in memory. */
export async function startCloudflare(): Promise<CloudflareStandIn> {
  const state: Standing = Object.assign(makeCloudflareState(), { service: null })
  const server = await startLoopbackServer((request, response) => {
    void answer(state, request, response)
  })
  const { origin } = server
  return Object.assign(state, {
    origin,
    apiBase: `${origin}/client/v4`,
    close: async () => await server[Symbol.asyncDispose](),
  })
}

type Standing = CloudflareState & Pick<CloudflareStandIn, "service">

async function answer(
  state: Standing,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const method = incoming.method ?? "GET"
  const body = await buffer(incoming)
  const request = new Request(`http://localhost${incoming.url}`, {
    method,
    headers: Object.entries(incoming.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : [],
    ),
    ...(method !== "GET" && body.length > 0 && { body: new Uint8Array(body) }),
  })
  const response = await respond(state, request).catch((error: unknown) =>
    refusal(500, 1, `the stand-in failed: ${String(error)}`),
  )
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(Buffer.from(await response.arrayBuffer()))
}

async function respond(state: Standing, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith("/v2/")) return await answerRegistry(state, request, pathname)
  if (state.service && state.worker && !pathname.startsWith("/client/v4/")) {
    return await passOn(state.service, state.worker.secrets.get("OPERATOR_TOKEN"), request)
  }
  if (pathname === "/v1/health") {
    const isReady = state.worker !== null && tablesOf(state).includes("jobs")
    return isReady ? Response.json({ status: "ok" }) : Response.json({}, { status: 503 })
  }
  if (pathname === "/operator/keys") {
    const token = state.worker?.secrets.get("OPERATOR_TOKEN")
    const isOpen = request.headers.get("authorization") === `Bearer ${token}`
    return isOpen ? Response.json([]) : Response.json({ message: "No." }, { status: 401 })
  }
  return await answerApi(state, request, pathname.replace("/client/v4", ""))
}

/** Has the service answer, whose operator token is another one than that of the deployed Worker. */
async function passOn(
  { origin, token }: OperatorAccess,
  deployedToken: string | undefined,
  request: Request,
): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  for (const name of ["connection", "content-length", "host", "transfer-encoding"]) {
    headers.delete(name)
  }
  if (headers.get("authorization") === `Bearer ${deployedToken}`) {
    headers.set("authorization", `Bearer ${token}`)
  }
  const body = request.body === null ? null : await request.arrayBuffer()
  const init = { method: request.method, headers, body, redirect: "manual" as const }
  const answered = await fetch(`${origin}${pathname}${search}`, init)
  const kept = new Headers(answered.headers)
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) kept.delete(name)
  return new Response(answered.body, { status: answered.status, headers: kept })
}

/** Names of the tables in the only database. */
export function tablesOf(state: CloudflareState): unknown[] {
  const [database] = state.databases
  const rows = database?.sqlite.prepare("SELECT name FROM sqlite_master").all() ?? []
  return rows.map((row) => row["name"])
}

/** Resources that a deployment made at the stand-in, by name. */
export function whatIsThere({
  databases,
  buckets,
  queues,
  applications,
  worker,
}: CloudflareStandIn) {
  return {
    databases: databases.map(({ name }) => name),
    buckets: Object.fromEntries(
      [...buckets].map(([name, rules]) => [name, rules.map(({ id }) => id)]),
    ),
    queues: queues.map(({ queue_name }) => queue_name),
    applications: applications.map(({ name }) => name),
    consumers: queues.map(({ consumers }) => consumers.length),
    crons: worker?.crons,
    secrets: [...(worker?.secrets.keys() ?? [])].toSorted(),
  }
}

/** The plain settings of the Worker by name. */
export function varsOf({ worker }: CloudflareStandIn): Record<string, string | undefined> {
  const vars = worker?.bindings.filter(({ type }) => type === "plain_text") ?? []
  return Object.fromEntries(vars.map(({ name, text }) => [name, text]))
}

/** Resources of the first deployment. */
export const EVERYTHING = {
  databases: ["lathe"],
  buckets: { "lathe-media": ["Default Multipart Abort Rule", "abort-unfinished-uploads"] },
  queues: ["lathe-jobs", "lathe-webhooks", "lathe-jobs-dead", "lathe-webhooks-dead"],
  applications: [
    "lathe-media-runner",
    "lathe-light-runner",
    "lathe-fetch-runner",
    "lathe-lookup-runner",
    "lathe-speech-runner",
  ],
  consumers: [1, 1, 1, 1],
  crons: [{ cron: "* * * * *" }],
  secrets: ["LATHE_SECRET", "OPERATOR_TOKEN"],
}
