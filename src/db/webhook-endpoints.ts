import { and, desc, eq, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { EnabledEndpoint } from "../domain/snapshot.ts"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { webhookEndpoints } from "./schema/deliveries.ts"
import type { Delivery, WebhookEndpoint } from "./schema/deliveries.ts"

/** Maximum number of webhook endpoints of an account. */
export const WEBHOOK_ENDPOINTS_MAX = 16

/** Row of a new webhook endpoint, except the account's id, which comes from the AccountDatabase. */
export type NewWebhookEndpoint = Pick<
  WebhookEndpoint,
  "id" | "url" | "events" | "description" | "enabled" | "secret" | "createdAt"
>

/**
 * Stores a webhook endpoint. Returns null if the account has reached its maximum number of
 * endpoints.
 */
export async function insertWebhookEndpoint(
  { accountId, sql: database }: AccountDatabase,
  endpoint: NewWebhookEndpoint,
): Promise<WebhookEndpoint | null> {
  const { id, url, events, description, enabled, secret, createdAt } = endpoint
  const isRoom = sql`(select count(*) from ${webhookEndpoints} where ${isOf(accountId)}) < ${WEBHOOK_ENDPOINTS_MAX}`
  const [row] = await database
    .insert(webhookEndpoints)
    .select(
      sql`select ${id}, ${accountId}, ${url}, ${JSON.stringify(events)}, ${description}, ${enabled ? 1 : 0}, null, ${secret}, null, null, 0, ${createdAt} where ${isRoom}`,
    )
    .returning()
  return row ?? null
}

/** Returns all webhook endpoints of the account, newest first. */
export async function listWebhookEndpoints({
  accountId,
  sql: database,
}: AccountDatabase): Promise<WebhookEndpoint[]> {
  const { id } = webhookEndpoints
  return await database.select().from(webhookEndpoints).where(isOf(accountId)).orderBy(desc(id))
}

export async function findWebhookEndpoint(
  database: AccountDatabase,
  id: string,
): Promise<WebhookEndpoint | null> {
  const [row] = await database.sql.select().from(webhookEndpoints).where(isIt(database, id))
  return row ?? null
}

type ChangeableFields = Pick<WebhookEndpoint, "url" | "events" | "description" | "enabled">

/** New values of a webhook endpoint's fields. An undefined field keeps its value. */
export type NewEndpointFieldValues = {
  [Name in keyof ChangeableFields]?: ChangeableFields[Name] | undefined
}

/** Changes a webhook endpoint. Returns null if the account has no such endpoint. */
export async function updateWebhookEndpoint(
  database: AccountDatabase,
  id: string,
  change: NewEndpointFieldValues,
): Promise<WebhookEndpoint | null> {
  const [row] = await database.sql
    .update(webhookEndpoints)
    .set({
      ...change,
      version: sql`version + 1`,
      ...(change.enabled !== undefined && { goneAt: null }),
    })
    .where(isIt(database, id))
    .returning()
  return row ?? null
}

/**
 * Replaces the signing secret of an endpoint, and keeps the previous secret. Returns false if the
 * account has no such endpoint.
 */
export async function rotateEndpointSecret(
  database: AccountDatabase,
  id: string,
  secret: string,
  now: number,
): Promise<boolean> {
  const rows = await database.sql
    .update(webhookEndpoints)
    .set({ secretBefore: sql`secret`, secret, secretRotatedAt: now })
    .where(isIt(database, id))
    .returning({ id: webhookEndpoints.id })
  return rows.length === 1
}

/** Deletes a webhook endpoint. Returns false if the account has no such endpoint. */
export async function deleteWebhookEndpoint(
  database: AccountDatabase,
  id: string,
): Promise<boolean> {
  const rows = await database.sql
    .delete(webhookEndpoints)
    .where(isIt(database, id))
    .returning({ id: webhookEndpoints.id })
  return rows.length === 1
}

/** Deletes all webhook endpoints of an account. */
export async function deleteAllWebhookEndpoints(
  database: Database,
  accountId: string,
): Promise<void> {
  await database.delete(webhookEndpoints).where(isOf(accountId))
}

/**
 * Returns the statement that disables the endpoint of a delivery whose receiver responded 410. The
 * statement does nothing if the endpoint now has another URL.
 */
export function disableGoneEndpointStatement(
  database: AccountDatabase,
  { endpointId, url }: Pick<Delivery, "url" | "endpointId">,
  now: number,
): Statement {
  const { enabled } = webhookEndpoints
  return database.sql
    .update(webhookEndpoints)
    .set({ enabled: false, goneAt: now, version: sql`version + 1` })
    .where(and(isIt(database, endpointId), eq(webhookEndpoints.url, url), eq(enabled, true)))
}

/** Returns the statement that reads the enabled webhook endpoints of an account, ordered by id. */
export function selectEnabledEndpointsStatement(database: Database, accountId: string) {
  const { id, url, events, version, enabled } = webhookEndpoints
  return database
    .select({ id, url, events, version })
    .from(webhookEndpoints)
    .where(and(isOf(accountId), eq(enabled, true)))
    .orderBy(id)
}

/**
 * Returns the SQL condition that the account's enabled endpoints are still exactly the given
 * endpoints, and that none has a new version.
 */
export function unchangedEndpointsCondition(
  accountId: string,
  endpoints: readonly EnabledEndpoint[],
): SQL {
  const versions = endpoints.map(({ id, version }) => `${id} ${version}`)
  const enabled = sql`select id || ' ' || version as version from ${webhookEndpoints} where account_id = ${accountId} and enabled order by id`
  return sql`(select json_group_array(version) from (${enabled})) = ${JSON.stringify(versions)}`
}

function isOf(accountId: string): SQL {
  return eq(webhookEndpoints.accountId, accountId)
}

function isIt({ accountId }: AccountDatabase, id: string): SQL | undefined {
  // The unary `+` prevents the use of the index on `account_id`, so that SQLite looks up rows by
  // id.
  return and(eq(webhookEndpoints.id, id), sql`+${webhookEndpoints.accountId} = ${accountId}`)
}
