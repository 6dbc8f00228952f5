import type { IncomingMessage, ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"
import { startLoopbackServer } from "../../scripts/local/loopback-server.ts"
import { answerApi, refusal } from "./cloudflare-routes.ts"
import { makeCloudflareState } from "./cloudflare-state.ts"
import type { CloudflareState } from "./cloudflare-state.ts"

export type CloudflareStandIn = CloudflareState & {
  /** Where the deployed service answers. */
  origin: string
  apiBase: string
  close(): Promise<void>
}

/** As much of Cloudflare's API as a deployment needs, with its state in memory. */
export async function startCloudflare(): Promise<CloudflareStandIn> {
  const state = makeCloudflareState()
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

async function answer(
  state: CloudflareState,
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

async function respond(state: CloudflareState, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
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

/** Names of the tables in the only database. */
export function tablesOf(state: CloudflareState): unknown[] {
  const [database] = state.databases
  const rows = database?.sqlite.prepare("SELECT name FROM sqlite_master").all() ?? []
  return rows.map((row) => row["name"])
}

/** What a deployment has made at the stand-in, by names. */
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

/** What the first deployment makes. */
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
