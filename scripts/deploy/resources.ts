import { z } from "zod"
import { callOrThrow, find } from "./cloudflare.ts"
import type { Cloudflare } from "./cloudflare.ts"
import { queuesOf, regionOf, replicasOf } from "./config.ts"
import type { Config } from "./config.ts"

const DAY_SECONDS = 86_400
/** The Worker's sweep aborts an upload after one day; this rule aborts those without a record. */
const ABORT_AFTER_DAYS = 2
const RULE_ID = "abort-unfinished-uploads"

const named = z.object({ name: z.string() })
const database = named.extend({ uuid: z.string() })
const DISABLED = "disabled"
const replication = z.object({
  read_replication: z.object({ mode: z.string() }).default({ mode: DISABLED }),
})
const queue = z.object({ queue_name: z.string() })
const lifecycle = z.object({ rules: z.array(z.looseObject({ id: z.string() })).default([]) })

export type CreatedResources = {
  /** What was created, as it is printed. */
  made: string[]
  databaseIds: Record<string, string>
}

/** Creates the databases, buckets and queues of a configuration that the account lacks. */
export async function makeResources(api: Cloudflare, config: Config): Promise<CreatedResources> {
  const made: string[] = []
  const databaseIds: Record<string, string> = {}
  const place = regionOf(config.vars)?.storage
  const replicas = replicasOf(config.vars)
  for (const { database_name: name } of config.d1_databases) {
    const id = await ensureDatabase(api, { name, place }, made)
    if (await setReplicas(api, id, replicas)) made.push(`replicas of ${name}: ${replicas}`)
    databaseIds[name] = id
  }
  for (const { bucket_name: name } of config.r2_buckets)
    await ensureBucket(api, { name, place }, made)
  for (const name of queuesOf(config)) await ensureQueue(api, name, made)
  return { made, databaseIds }
}

/** What is to be there, and near which place where it is made. */
type Wanted = { name: string; place: string | undefined }

async function ensureDatabase(
  api: Cloudflare,
  { name, place }: Wanted,
  made: string[],
): Promise<string> {
  const path = "/d1/database"
  const query = `?name=${encodeURIComponent(name)}&per_page=100`
  const found = await callOrThrow(api, z.array(database), { path: path + query })
  const existing = found.find((one) => one.name === name)
  if (existing) return existing.uuid
  const body = { name, ...(place !== undefined && { primary_location_hint: place }) }
  const created = await callOrThrow(api, database, { method: "POST", path, body })
  made.push(`D1 database ${name}`)
  return created.uuid
}

/** Whether a database had them otherwise. */
async function setReplicas(api: Cloudflare, id: string, mode: string): Promise<boolean> {
  const path = `/d1/database/${id}`
  const { read_replication: now } = await callOrThrow(api, replication, { path })
  if (now.mode === mode) return false
  const body = { read_replication: { mode } }
  await callOrThrow(api, z.unknown(), { method: "PUT", path, body })
  return true
}

async function ensureBucket(
  api: Cloudflare,
  { name, place }: Wanted,
  made: string[],
): Promise<void> {
  const path = `/r2/buckets/${name}`
  if (!(await find(api, named, path))) {
    const body = { name, ...(place !== undefined && { locationHint: place }) }
    await callOrThrow(api, named, { method: "POST", path: "/r2/buckets", body })
    made.push(`R2 bucket ${name}`)
  }
  const { rules } = await callOrThrow(api, lifecycle, { path: `${path}/lifecycle` })
  if (rules.some(({ id }) => id === RULE_ID)) return
  const condition = { type: "Age", maxAge: ABORT_AFTER_DAYS * DAY_SECONDS }
  const rule = {
    id: RULE_ID,
    enabled: true,
    conditions: {},
    abortMultipartUploadsTransition: { condition },
  }
  const body = { rules: [...rules, rule] }
  await callOrThrow(api, z.unknown(), { method: "PUT", path: `${path}/lifecycle`, body })
  made.push(`its rule ${RULE_ID}`)
}

async function ensureQueue(api: Cloudflare, name: string, made: string[]): Promise<void> {
  const path = "/queues"
  const query = `?name=${encodeURIComponent(name)}`
  const found = await callOrThrow(api, z.array(queue), { path: path + query })
  if (found.some(({ queue_name }) => queue_name === name)) return
  await callOrThrow(api, queue, { method: "POST", path, body: { queue_name: name } })
  made.push(`queue ${name}`)
}
