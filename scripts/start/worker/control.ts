import { z } from "zod"
import { STARTUP_CRON } from "../../../src/contract/crons.ts"

// This module runs inside the Worker as its entrypoint `control`. The start script calls the
// entrypoint through a UNIX socket.

type Statement = { bind(...values: unknown[]): Statement; all(): Promise<{ results: unknown[] }> }

type Database = {
  exec(sql: string): Promise<unknown>
  prepare(sql: string): Statement
  batch(statements: Statement[]): Promise<unknown>
}

type Environment = {
  DB: Database
  DATABASES?: string
  [other: `DB_${number}`]: Database | undefined
}

type Scheduled<Context> = {
  scheduled(
    controller: { cron: string; scheduledTime: number; noRetry(): void },
    env: Environment,
    context: Context,
  ): unknown
}

export const migrationsSchema = z.array(
  z.object({ name: z.string(), statements: z.array(z.string()) }),
)

/** Schema of the migrations: the files of the migrations folder in order, split into statements. */
export type Migrations = z.infer<typeof migrationsSchema>

/**
 * Name of the table of applied migrations. `wrangler d1 migrations` uses the same table, so that
 * both tools can be used.
 */
const MIGRATIONS_TABLE =
  "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, " +
  "name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)"

const HIGHEST_DATABASE = "SELECT max(database) AS highest FROM accounts HAVING highest > 1"
const highestRows = z.array(z.object({ highest: z.number() }))
const appliedRows = z.array(z.object({ name: z.string() }))

/**
 * Error of a setting that contradicts the stored data. The message addresses the user who started
 * the service.
 */
class SettingError extends Error {}

/**
 * Makes the entrypoint by which the start script controls the Worker, with two routes. `POST
 * /migrate` applies a list of migrations. `POST /sweep` runs a sweep; the body of the first request
 * is the start time of the start script. Responds 204 when the work is done, 409 with a message if
 * a setting is wrong, and 500 after any other error.
 */
export function makeMigrateAndSweepEntrypoint<Context>(
  worker: Scheduled<Context>,
  onMigrated: () => void,
) {
  return {
    async fetch(request: Request, env: Environment, context: Context): Promise<Response> {
      const { pathname } = new URL(request.url)
      try {
        if (pathname === "/migrate") {
          await migrateAll(env, migrationsSchema.parse(await request.json()))
          onMigrated()
        } else if (pathname === "/sweep") {
          onMigrated()
          await sweep(worker, { env, context }, await request.text())
        } else return new Response(null, { status: 404 })
        return new Response(null, { status: 204 })
      } catch (error) {
        if (error instanceof SettingError) return new Response(error.message, { status: 409 })
        return new Response(String(error), { status: 500 })
      }
    },
  }
}

/**
 * Removes bindings without a value from the Worker's environment. workerd sets them to null, but
 * the settings expect an unset variable to be absent.
 */
export function removeNullBindings(env: object): void {
  for (const name of Object.keys(env)) {
    if (Reflect.get(env, name) === null) Reflect.deleteProperty(env, name)
  }
}

/**
 * Applies all migrations to every database. Throws a SettingError if accounts are in a database
 * that DATABASES leaves out.
 */
async function migrateAll(env: Environment, migrationFiles: Migrations): Promise<void> {
  const count = Number(env.DATABASES ?? 1)
  for (let number = 1; number <= count; number += 1) {
    const database = number === 1 ? env.DB : env[`DB_${number}`]
    if (!database)
      throw new SettingError(`DATABASES is ${count}, and one machine has ${number - 1} at most.`)
    await migrate(database, migrationFiles)
  }
  const { results } = await env.DB.prepare(HIGHEST_DATABASE).all()
  const [{ highest } = { highest: 1 }] = highestRows.parse(results)
  if (highest <= count) return
  throw new SettingError(
    `DATABASES is ${count}, and accounts are in database ${highest}: it may only rise.`,
  )
}

/** Applies new migrations to a database, each in one transaction. */
async function migrate(database: Database, migrationFiles: Migrations): Promise<void> {
  await database.exec(MIGRATIONS_TABLE)
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all()
  const applied = new Set(appliedRows.parse(results).map((row) => row.name))
  for (const { name, statements } of migrationFiles) {
    if (applied.has(name)) continue
    await database.batch([
      ...statements.map((statement) => database.prepare(statement)),
      database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name),
    ])
  }
}

async function sweep<Context>(
  worker: Scheduled<Context>,
  { env, context }: { env: Environment; context: Context },
  startedAt: string,
): Promise<void> {
  const controller =
    startedAt === ""
      ? { cron: "* * * * *", scheduledTime: Date.now() }
      : { cron: STARTUP_CRON, scheduledTime: z.coerce.number().parse(startedAt) }
  await worker.scheduled({ ...controller, noRetry() {} }, env, context)
}
