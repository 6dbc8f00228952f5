import { randomUUID } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { unstable_splitSqlQuery } from "wrangler"
import { z } from "zod"
import type { CloudflareState, Route } from "./cloudflare-state.ts"
import { refusal, scriptRoutes } from "./cloudflare-scripts.ts"

const named = z.object({ name: z.string() })
const newDatabase = named.extend({ primary_location_hint: z.string().optional() }).strict()
const newBucket = named.extend({ locationHint: z.string().optional() }).strict()
const replication = z.object({
  read_replication: z.object({ mode: z.enum(["auto", "disabled"]) }),
})
const statement = z.object({ sql: z.string(), params: z.array(z.string()).optional() })
const application = z.looseObject({ name: z.string() })

const routes: Route[] = [
  ["GET /memberships", ({ state }) => state.accounts.map((account) => ({ account }))],
  ["GET /accounts", ({ state }) => state.accounts],
  ["GET /user", () => ({ email: "operator@example.com" })],
  ["GET /user/tokens/verify", () => ({ id: "t", status: "active" })],
  ["GET /accounts/*/workers/subdomain", ({ state }) => subdomain(state)],
  ["GET /accounts/*/containers/me", ({ state }) => containerAccount(state)],

  ["GET /accounts/*/d1/database", ({ state, query }) => findDatabases(state, query.get("name"))],
  [
    "POST /accounts/*/d1/database",
    async ({ state, request }) => {
      const { name, primary_location_hint: place } = newDatabase.parse(await request.json())
      if (state.databases.some((one) => one.name === name)) return refusal(400, 7502, "exists")
      const made = { uuid: randomUUID(), name, sqlite: new DatabaseSync(":memory:") }
      state.databases.push(made)
      state.places.set(name, place)
      return { uuid: made.uuid, name }
    },
  ],
  [
    "GET /accounts/*/d1/database/*",
    ({ state, parts }) =>
      findDatabases(state, null).find(({ uuid, name }) => uuid === parts[1] || name === parts[1]),
  ],
  [
    "PUT /accounts/*/d1/database/*",
    async ({ state, request, parts }) => {
      const database = state.databases.find(({ uuid }) => uuid === parts[1])
      const { read_replication } = replication.parse(await request.json())
      if (database) database.replicas = read_replication.mode
      return database && { uuid: database.uuid, read_replication }
    },
  ],
  [
    "POST /accounts/*/d1/database/*/query",
    async ({ state, request, parts }) => {
      const database = state.databases.find(({ uuid }) => uuid === parts[1])
      return database && runSql(database.sqlite, statement.parse(await request.json()))
    },
  ],

  [
    "GET /accounts/*/r2/buckets",
    ({ state }) =>
      state.hasR2
        ? { buckets: [...state.buckets.keys()].map((name) => ({ name })) }
        : refusal(403, 10_042, "Please enable R2 through the Cloudflare Dashboard."),
  ],
  [
    "GET /accounts/*/r2/buckets/*",
    ({ state, parts }) =>
      state.buckets.has(parts[1] ?? "")
        ? { name: parts[1] }
        : refusal(404, 10_006, "The specified bucket does not exist."),
  ],
  [
    "POST /accounts/*/r2/buckets",
    async ({ state, request }) => {
      const { name, locationHint } = newBucket.parse(await request.json())
      if (state.buckets.has(name)) return refusal(409, 10_004, "The bucket already exists.")
      state.buckets.set(name, [{ id: "Default Multipart Abort Rule" }])
      state.places.set(name, locationHint)
      return { name }
    },
  ],
  [
    "GET /accounts/*/r2/buckets/*/lifecycle",
    ({ state, parts }) => ({ rules: state.buckets.get(parts[1] ?? "") }),
  ],
  [
    "PUT /accounts/*/r2/buckets/*/lifecycle",
    async ({ state, request, parts }) => {
      const body = z.object({ rules: z.array(z.looseObject({ id: z.string() })) })
      state.buckets.set(parts[1] ?? "", body.parse(await request.json()).rules)
      return {}
    },
  ],

  [
    "GET /accounts/*/queues",
    ({ state, query }) => {
      const names = query.getAll("name")
      return state.queues.filter(({ queue_name }) => names.includes(queue_name))
    },
  ],
  [
    "POST /accounts/*/queues",
    async ({ state, request }) => {
      const body = z.object({ queue_name: z.string() }).parse(await request.json())
      if (state.queues.some(({ queue_name }) => queue_name === body.queue_name)) {
        return refusal(400, 11_009, "The queue already exists.")
      }
      const made = { queue_id: randomUUID(), ...body, consumers: [] }
      state.queues.push(made)
      return made
    },
  ],
  [
    "POST /accounts/*/queues/*/consumers",
    async ({ state, request, parts }) => {
      const body = z
        .looseObject({ type: z.string(), script_name: z.string() })
        .parse(await request.json())
      const queue = state.queues.find(({ queue_id }) => queue_id === parts[1])
      queue?.consumers.push({ ...body, consumer_id: randomUUID(), script: body.script_name })
      return queue && {}
    },
  ],
  ["PUT /accounts/*/queues/*/consumers/*", () => ({})],

  [
    "POST /accounts/*/containers/registries/*/credentials",
    ({ state }) =>
      state.hasContainers
        ? { username: "u", password: "p", account_id: "account-1", registry_host: "r" }
        : refusal(401, 1000, "Unauthorized"),
  ],
  ["GET /accounts/*/containers/applications", ({ state }) => state.applications],
  [
    "POST /accounts/*/containers/applications",
    async ({ state, request }) => {
      const made = { ...application.parse(await request.json()), id: randomUUID() }
      state.applications.push(made)
      return made
    },
  ],
  [
    "PATCH /accounts/*/containers/applications/*",
    async ({ state, request, parts }) => {
      const index = state.applications.findIndex(({ id }) => id === parts[1])
      const before = state.applications[index]
      const change = z.record(z.string(), z.json()).parse(await request.json())
      if (before) state.applications[index] = { ...before, ...change }
      return before && state.applications[index]
    },
  ],
  ["POST /accounts/*/containers/applications/*/rollouts", () => ({ id: randomUUID() })],
  ...scriptRoutes,
]

/** The answer to a call; what is not known is answered with 404 and noted. */
export async function answerApi(
  state: CloudflareState,
  request: Request,
  path: string,
): Promise<Response> {
  if (request.headers.get("authorization") !== `Bearer ${state.token}`) {
    return refusal(403, 10_000, "Authentication error")
  }
  const matches = routes.filter(([name]) => patternOf(name).test(`${request.method} ${path}`))
  const [route] = matches
  if (!route) {
    state.unknown.push(`${request.method} ${path}`)
    return refusal(404, 7003, `the stand-in knows no ${request.method} ${path}`)
  }
  const [name, act] = route
  const right = RIGHTS.find(([, of]) => of.test(name))?.[0]
  if (right !== undefined && isLacking(state, right, name)) {
    return refusal(403, 10_000, "Authentication error")
  }
  if (name === state.failing) return refusal(500, 10_001, "an internal error of Cloudflare")
  const parts = patternOf(name).exec(`${request.method} ${path}`)?.slice(1) ?? []
  const { searchParams: query } = new URL(request.url)
  const result = await act({ state, request, query, parts: parts.map(decodeURIComponent) })
  if (result instanceof Response) return result
  if (result === undefined) return refusal(404, 7404, "There is no such thing.")
  state.calls.push(name)
  if (isChange(name)) await state.onChange?.(name)
  const count = Array.isArray(result) ? result.length : 1
  const result_info = { page: 1, per_page: 1000, total_pages: 1, count, total_count: count }
  return Response.json({ success: true, errors: [], messages: [], result, result_info })
}

/** Rights of a token, and the calls that need them. */
export const RIGHTS: [name: string, calls: RegExp][] = [
  ["Workers Scripts", / \/accounts\/\*\/workers\//],
  ["D1", / \/accounts\/\*\/d1\//],
  ["Workers R2 Storage", / \/accounts\/\*\/r2\//],
  ["Queues", / \/accounts\/\*\/queues/],
  ["Containers", / \/accounts\/\*\/containers\//],
]

/** A token lacks a right altogether, or the right to edit alone. */
function isLacking({ lacking }: CloudflareState, right: string, call: string): boolean {
  return lacking.has(right) || (lacking.has(`${right}: edit`) && !call.startsWith("GET "))
}

/**
 * Whether a call changes something in the account; credentials of the registry end by themselves.
 */
export function isChange(call: string): boolean {
  return !call.startsWith("GET ") && !call.endsWith("/credentials")
}

function patternOf(name: string): RegExp {
  return new RegExp(`^${name.replaceAll("*", "([^/]+)")}$`)
}

function subdomain(state: CloudflareState): unknown {
  if (state.hasSubdomain) return { subdomain: "acme" }
  return refusal(404, 10_007, "You do not have a workers.dev subdomain.")
}

function containerAccount(state: CloudflareState): unknown {
  if (!state.hasContainers) return refusal(401, 1000, "Unauthorized")
  return {
    external_account_id: "account-1",
    limits: {
      vcpu_per_deployment: 4,
      memory_mib_per_deployment: 12_288,
      disk_mb_per_deployment: 20_000,
    },
  }
}

function findDatabases(state: CloudflareState, name: string | null) {
  return state.databases
    .filter((one) => name === null || one.name.includes(name))
    .map(({ uuid, name: own, replicas }) => ({
      uuid,
      name: own,
      ...(replicas !== undefined && { read_replication: { mode: replicas } }),
    }))
}

/** Several statements are one transaction, as D1 has it. */
function runSql(sqlite: DatabaseSync, { sql, params = [] }: z.infer<typeof statement>): unknown {
  sqlite.exec("BEGIN")
  try {
    const results = unstable_splitSqlQuery(sql).map((text) => ({
      results: sqlite.prepare(text).all(...params),
      success: true,
      meta: { duration: 1 },
    }))
    sqlite.exec("COMMIT")
    return results
  } catch (error) {
    sqlite.exec("ROLLBACK")
    return refusal(400, 7500, String(error))
  }
}
