import { z } from "zod"
import { AT_START } from "../../src/contract/crons.ts"

// Run inside the Worker, as its entrypoint `control`: what the start script asks of it by a socket
// of its own.

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

export const migrations = z.array(z.object({ name: z.string(), statements: z.array(z.string()) }))

/** Files of the migrations folder, in order. */
export type Migrations = z.infer<typeof migrations>

/** The same table as `wrangler d1 migrations` creates, so that both know what was applied. */
const MIGRATIONS_TABLE =
  "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, " +
  "name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)"

const HIGHEST_DATABASE = "SELECT max(database) AS highest FROM accounts HAVING highest > 1"
const highestRows = z.array(z.object({ highest: z.number() }))
const appliedRows = z.array(z.object({ name: z.string() }))

/** A setting that does not suit what is stored, in a sentence for who started the service. */
class SettingError extends Error {}

/**
 * Answers `POST /migrate` (a list of migrations) and `POST /sweep` (a number: when this process was
 * started, for its first sweep; or nothing) by 204 once they are done, or with what went wrong as text: by
 * 409 what the setting of a user did, by 500 all else.
 */
export function makeControl<Context>(worker: Scheduled<Context>, onMigrated: () => void) {
  return {
    async fetch(request: Request, env: Environment, context: Context): Promise<Response> {
      const { pathname } = new URL(request.url)
      try {
        if (pathname === "/migrate") {
          await migrateAll(env, migrations.parse(await request.json()))
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
 * Removes from the Worker's environment what workerd was told no value of, which has it null there:
 * a setting that is not set is absent.
 */
export function removeAbsentBindings(env: object): void {
  for (const name of Object.keys(env)) {
    if (Reflect.get(env, name) === null) Reflect.deleteProperty(env, name)
  }
}

/** Brings every database to the newest migration; throws where accounts are in one that is left out. */
async function migrateAll(env: Environment, given: Migrations): Promise<void> {
  const count = Number(env.DATABASES ?? 1)
  for (let number = 1; number <= count; number += 1) {
    const database = number === 1 ? env.DB : env[`DB_${number}`]
    if (!database)
      throw new SettingError(`DATABASES is ${count}, and one machine has ${number - 1} at most.`)
    await migrate(database, given)
  }
  const { results } = await env.DB.prepare(HIGHEST_DATABASE).all()
  const [{ highest } = { highest: 1 }] = highestRows.parse(results)
  if (highest <= count) return
  throw new SettingError(
    `DATABASES is ${count}, and accounts are in database ${highest}: it may only rise.`,
  )
}

/** Applies those that were not applied yet, each in one transaction. */
async function migrate(database: Database, given: Migrations): Promise<void> {
  await database.exec(MIGRATIONS_TABLE)
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all()
  const applied = new Set(appliedRows.parse(results).map((row) => row.name))
  for (const { name, statements } of given) {
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
      : { cron: AT_START, scheduledTime: z.coerce.number().parse(startedAt) }
  await worker.scheduled({ ...controller, noRetry() {} }, env, context)
}
