import { randomUUID } from "node:crypto"
import { z } from "zod"
import type { Binding, Call, CloudflareState, DeployedScript, Route } from "./cloudflare-state.ts"

const SCRIPT = "/accounts/*/workers/scripts/*"

const metadata = z.looseObject({
  bindings: z.array(
    z.looseObject({
      type: z.string(),
      name: z.string(),
      text: z.string().optional(),
      class_name: z.string().optional(),
    }),
  ),
  keep_bindings: z.array(z.string()).default([]),
  migrations: z.looseObject({ new_tag: z.string() }).optional(),
})

const secretsBulk = z.object({
  secrets: z.record(z.string(), z.object({ name: z.string(), text: z.string() })),
})

/** Workers: upload, versions, secrets, triggers. */
export const scriptRoutes: Route[] = [
  [
    "GET /accounts/*/workers/services/*",
    ({ state, parts }) =>
      (find(state, parts) && {
        default_environment: {
          environment: "production",
          script: { tag: "tag-1", tags: null, last_deployed_from: "wrangler" },
        },
      }) ||
      notThere(10_090),
  ],
  [
    "GET /accounts/*/workers/scripts",
    ({ state: { workers } }) =>
      workers.map(({ name, migrationTag }) => ({ id: name, migration_tag: migrationTag })),
  ],
  // Every file of the documentation site is said to be there already.
  [`POST ${SCRIPT}/assets-upload-session`, () => ({ jwt: "a-token", buckets: [] })],
  [`PUT ${SCRIPT}`, upload],
  [
    `DELETE ${SCRIPT}`,
    ({ state, parts }) => {
      const worker = find(state, parts)
      if (!worker) return notThere(10_007)
      state.workers.splice(state.workers.indexOf(worker), 1)
      return {}
    },
  ],
  [`GET ${SCRIPT}/settings`, script((worker) => ({ bindings: shownBindings(worker) }))],
  [
    `GET ${SCRIPT}/secrets`,
    script((worker) => [...worker.secrets.keys()].map((name) => ({ name, type: "secret_text" }))),
  ],
  [
    `DELETE ${SCRIPT}/secrets/*`,
    ({ state, parts }) => {
      const worker = find(state, parts)
      const name = parts[2] ?? ""
      if (!worker?.secrets.delete(name)) return notThere(10_056)
      worker.versionId = randomUUID()
      return {}
    },
  ],
  [
    `PATCH ${SCRIPT}/secrets-bulk`,
    script(async (worker, request) => {
      const { secrets } = secretsBulk.parse(await request.json())
      for (const { name, text } of Object.values(secrets)) worker.secrets.set(name, text)
      worker.versionId = randomUUID()
      return {}
    }),
  ],
  [
    `GET ${SCRIPT}/deployments`,
    script((worker) => ({
      deployments: [
        { id: randomUUID(), versions: [{ version_id: worker.versionId, percentage: 100 }] },
      ],
    })),
  ],
  [
    `GET ${SCRIPT}/versions/*`,
    script((worker) => ({ id: worker.versionId, resources: { bindings: shownBindings(worker) } })),
  ],
  [`PATCH ${SCRIPT}/script-settings`, script(() => ({}))],
  [`POST ${SCRIPT}/subdomain`, script(() => ({ enabled: true, previews_enabled: false }))],
  [
    "GET /accounts/*/workers/workers/*",
    script((worker) => ({
      name: worker.name,
      subdomain: { enabled: true, previews_enabled: false },
    })),
  ],
  [
    `POST ${SCRIPT}/domains/changeset`,
    script(() => ({ added: [], removed: [], updated: [], conflicting: [] })),
  ],
  [
    `PUT ${SCRIPT}/domains/records`,
    script(async (worker, request) => {
      worker.domains = await request.json()
      return []
    }),
  ],
  [
    `PUT ${SCRIPT}/schedules`,
    script(async (worker, request) => {
      worker.crons = await request.json()
      return {}
    }),
  ],
]

async function upload({ state, request, parts }: Call): Promise<unknown> {
  const form = await request.formData()
  const text = form.get("metadata")
  if (typeof text !== "string") throw new Error("no metadata")
  const { bindings, keep_bindings: kept, migrations } = metadata.parse(JSON.parse(text))
  if (!state.hasAnalytics && bindings.some(({ type }) => type === "analytics_engine")) {
    return refusal(400, 10_089, "You need to enable Analytics Engine.")
  }
  const before = find(state, parts)
  const secrets = new Map(kept.includes("secret_text") ? before?.secrets : [])
  const others: Binding[] = []
  for (const binding of bindings) {
    const { type, name, text: value } = binding
    const inherited = before?.bindings.find((one) => one.name === name)
    if (type === "secret_text") secrets.set(name, value ?? "")
    else if (type !== "inherit") others.push(binding)
    else if (inherited) others.push(inherited)
    else if (!before?.secrets.has(name)) return notThere(10_057)
  }
  const worker: DeployedScript = {
    name: parts[1] ?? "",
    versionId: randomUUID(),
    versionCount: (before?.versionCount ?? 0) + 1,
    bindings: others,
    secrets,
    migrationTag: migrations?.new_tag ?? before?.migrationTag,
    crons: before?.crons,
    domains: before?.domains,
  }
  if (before) state.workers[state.workers.indexOf(before)] = worker
  else state.workers.push(worker)
  const deployment = worker.versionId.replaceAll("-", "")
  return { id: parts[1], etag: "e", deployment_id: deployment, startup_time_ms: 9 }
}

function script(
  act: (worker: DeployedScript, request: Request) => unknown,
): (call: Call) => unknown {
  return ({ state, request, parts }) => {
    const worker = find(state, parts)
    return worker ? act(worker, request) : notThere(10_007)
  }
}

function find({ workers }: CloudflareState, parts: string[]): DeployedScript | undefined {
  return workers.find(({ name }) => name === parts[1])
}

function shownBindings(worker: DeployedScript): (Binding & { namespace_id?: string })[] {
  const secrets = [...worker.secrets.keys()].map((name) => ({ type: "secret_text", name }))
  const others = worker.bindings.map((binding) =>
    binding.class_name === undefined
      ? binding
      : { ...binding, namespace_id: `namespace-${binding.class_name}` },
  )
  return [...others, ...secrets]
}

function notThere(code: number): Response {
  return refusal(404, code, "This Worker does not exist on your account.")
}

/** An answer as Cloudflare words its refusals. */
export function refusal(status: number, code: number, message: string): Response {
  const errors = [{ code, message }]
  return Response.json({ success: false, errors, messages: [], result: null }, { status })
}
