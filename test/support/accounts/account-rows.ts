import { env } from "cloudflare:workers"
import { newId } from "../../../src/platform/ids.ts"

/**
 * SQL conditions that find an account's rows in tables without a column `account_id`, by table.
 * `?1` is the account's id. Null for tables whose rows belong to no account.
 */
export const ACCOUNT_ROW_CONDITIONS: Record<string, string | null> = {
  accounts: "id = ?1",
  task_inputs: "task_id in (select id from tasks where account_id = ?1) or task_id = 'of ' || ?1",
  upload_parts:
    "upload_id in (select id from uploads where account_id = ?1) or upload_id = 'of ' || ?1",
  delivery_tries:
    "delivery_id in (select id from deliveries where account_id = ?1) or delivery_id = 'of ' || ?1",
  sessions: "user_id = 'of ' || ?1",
  credentials: "user_id = 'of ' || ?1",
  verifications: "value = 'of ' || ?1",
  invitations: "email = 'of ' || ?1",
  garbage: "prefix like ?1 || '/%'",
  // Rows of the following tables belong to the operator, to a network address or to a mail address,
  // and to no account.
  plans: null,
  sign_in_tries: null,
  mail_counts: null,
  dead_letters: null,
}

/**
 * Column values that the schema or the tests require in an inserted row, by table. The value `of`
 * stands for the text `of <account id>`, which identifies the rows of an account.
 */
const VALUES: Record<string, Record<string, unknown>> = {
  jobs: { state: "succeeded", request: "{}" },
  tasks: { state: "succeeded", work: "{}", job_id: "of" },
  task_secrets: { task_id: "of", job_id: "of", sealed: "{}" },
  files: { state: "succeeded", size_bytes: 7, object_key: "below" },
  garbage: { deletions: 0 },
  deliveries: { state: "delivered" },
  users: { email: "of" },
  credentials: { user_id: "of" },
  sessions: { user_id: "of" },
  verifications: { value: "of" },
  invitations: { email: "of" },
  upload_parts: { upload_id: "of" },
  tus_uploads: { fields: "{}" },
  upload_links: { fields: "{}", types: "[]", origins: "[]" },
  delivery_tries: { delivery_id: "of" },
  task_inputs: { task_id: "of" },
}

type Column = { name: string; type: string; notnull: number }

/** Returns the tables that the migrations created, each with its columns. */
export async function listTables(): Promise<Map<string, Column[]>> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '%\\_%migrations' escape '\\' and name not like '\\_cf%' escape '\\' and name not like 'sqlite%'",
  ).all<{ name: string }>()
  const tables = await Promise.all(
    results.map(async ({ name }): Promise<[string, Column[]]> => {
      const columns = await env.DB.prepare(`pragma table_info(${name})`).all<Column>()
      return [name, columns.results]
    }),
  )
  return new Map(tables)
}

/**
 * Inserts a row of an account into every table with rows of accounts, except those in `leftOut`.
 */
export async function insertRowInEveryTable(
  accountId: string,
  database: D1Database = env.DB,
  leftOut: readonly string[] = ["accounts", "account_storage"],
): Promise<void> {
  const tables = await listTables()
  const order = ["users", ...tables.keys()].filter((table, at, all) => all.indexOf(table) === at)
  for (const table of order) {
    if (leftOut.includes(table) || ACCOUNT_ROW_CONDITIONS[table] === null) continue
    const columns = (tables.get(table) ?? []).filter(
      ({ notnull, name }) => notnull || VALUES[table]?.[name],
    )
    const values = columns.map((column) => valueOf(table, column, accountId))
    await database
      .prepare(
        `insert into ${table} (${columns.map(({ name }) => name).join()}) values (${columns.map(() => "?").join()})`,
      )
      .bind(...values)
      .run()
  }
}

function valueOf(table: string, { name, type }: Column, accountId: string): unknown {
  const { [name]: given } = VALUES[table] ?? {}
  if (name === "object_key") return `${accountId}/uploads/${newId()}/media`
  if (given === "of") return `of ${accountId}`
  if (given !== undefined) return given
  if (name === "account_id") return accountId
  if (name === "id")
    return ["jobs", "tasks", "uploads", "deliveries", "users"].includes(table)
      ? `of ${accountId}`
      : newId()
  if (name === "prefix") return `${accountId}/${newId()}/`
  if (/int|real/i.test(type)) return Date.now()
  return newId()
}

/** Counts the rows of an account by table. Leaves out tables without such rows. */
export async function countAccountRows(
  accountId: string,
  database: D1Database = env.DB,
): Promise<Record<string, number>> {
  const counts: [string, number][] = []
  for (const [table, columns] of await listTables()) {
    const names = columns.some(({ name }) => name === "account_id")
    const condition = names ? "account_id = ?1" : ACCOUNT_ROW_CONDITIONS[table]
    if (!condition) continue
    const count = await database
      .prepare(`select count(*) as n from ${table} where ${condition}`)
      .bind(accountId)
      .first<number>("n")
    if (count) counts.push([table, count])
  }
  return Object.fromEntries(counts)
}
