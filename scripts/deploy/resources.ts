import { z } from "zod"
import { callCloudflareOrThrow, findCloudflareResource } from "./cloudflare.ts"
import type { CloudflareAccount } from "./cloudflare.ts"
import { listConfiguredQueueNames, findDeploymentRegion, findD1ReplicationMode } from "./config.ts"
import type { WranglerConfig } from "./config.ts"

const DAY_SECONDS = 86_400
/**
 * Age at which R2 aborts an unfinished upload, in days. The sweep aborts uploads after one day.
 * R2's own rule is for uploads that have no row in D1, which the sweep does not find.
 */
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
  /** Descriptions of the created resources, for the user. */
  createdNames: string[]
  databaseIds: Record<string, string>
}

/**
 * Creates the D1 databases, R2 buckets and queues of a configuration that the Cloudflare account
 * lacks.
 */
export async function createMissingResources(
  api: CloudflareAccount,
  config: WranglerConfig,
): Promise<CreatedResources> {
  const createdNames: string[] = []
  const databaseIds: Record<string, string> = {}
  const place = findDeploymentRegion(config.vars)?.storage
  const replicas = findD1ReplicationMode(config.vars)
  for (const { database_name: name } of config.d1_databases) {
    const id = await ensureDatabase(api, { name, place }, createdNames)
    if (await setReplicas(api, id, replicas)) createdNames.push(`replicas of ${name}: ${replicas}`)
    databaseIds[name] = id
  }
  for (const { bucket_name: name } of config.r2_buckets)
    await ensureBucket(api, { name, place }, createdNames)
  for (const name of listConfiguredQueueNames(config)) await ensureQueue(api, name, createdNames)
  return { createdNames, databaseIds }
}

/** Name of a required resource, and the location of a new one. */
type RequiredResource = { name: string; place: string | undefined }

async function ensureDatabase(
  api: CloudflareAccount,
  { name, place }: RequiredResource,
  createdNames: string[],
): Promise<string> {
  const path = "/d1/database"
  const query = `?name=${encodeURIComponent(name)}&per_page=100`
  const found = await callCloudflareOrThrow(api, z.array(database), { path: path + query })
  const existing = found.find((one) => one.name === name)
  if (existing) return existing.uuid
  const body = { name, ...(place !== undefined && { primary_location_hint: place }) }
  const created = await callCloudflareOrThrow(api, database, { method: "POST", path, body })
  createdNames.push(`D1 database ${name}`)
  return created.uuid
}

/** Sets the mode of read replication of a database. Returns true if the mode has changed. */
async function setReplicas(api: CloudflareAccount, id: string, mode: string): Promise<boolean> {
  const path = `/d1/database/${id}`
  const { read_replication: now } = await callCloudflareOrThrow(api, replication, { path })
  if (now.mode === mode) return false
  const body = { read_replication: { mode } }
  await callCloudflareOrThrow(api, z.unknown(), { method: "PUT", path, body })
  return true
}

async function ensureBucket(
  api: CloudflareAccount,
  { name, place }: RequiredResource,
  createdNames: string[],
): Promise<void> {
  const path = `/r2/buckets/${name}`
  if (!(await findCloudflareResource(api, named, path))) {
    const body = { name, ...(place !== undefined && { locationHint: place }) }
    await callCloudflareOrThrow(api, named, { method: "POST", path: "/r2/buckets", body })
    createdNames.push(`R2 bucket ${name}`)
  }
  const { rules } = await callCloudflareOrThrow(api, lifecycle, { path: `${path}/lifecycle` })
  if (rules.some(({ id }) => id === RULE_ID)) return
  const condition = { type: "Age", maxAge: ABORT_AFTER_DAYS * DAY_SECONDS }
  const rule = {
    id: RULE_ID,
    enabled: true,
    conditions: {},
    abortMultipartUploadsTransition: { condition },
  }
  const body = { rules: [...rules, rule] }
  await callCloudflareOrThrow(api, z.unknown(), { method: "PUT", path: `${path}/lifecycle`, body })
  createdNames.push(`its rule ${RULE_ID}`)
}

async function ensureQueue(
  api: CloudflareAccount,
  name: string,
  createdNames: string[],
): Promise<void> {
  const path = "/queues"
  const query = `?name=${encodeURIComponent(name)}`
  const found = await callCloudflareOrThrow(api, z.array(queue), { path: path + query })
  if (found.some(({ queue_name }) => queue_name === name)) return
  await callCloudflareOrThrow(api, queue, { method: "POST", path, body: { queue_name: name } })
  createdNames.push(`queue ${name}`)
}
