import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Miniflare } from "miniflare"
import { unstable_splitSqlQuery } from "wrangler"
import { z } from "zod"

type Database = Awaited<ReturnType<Miniflare["getD1Database"]>>

/** The same table as `wrangler d1 migrations` creates, so that both know what was applied. */
const MIGRATIONS_TABLE =
  "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, " +
  "name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)"

const appliedRows = z.array(z.object({ name: z.string() }))

/** Applies the SQL files of a folder that were not applied yet, each in one transaction. */
export async function migrate(database: Database, folder: string): Promise<void> {
  await database.exec(MIGRATIONS_TABLE)
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all()
  const applied = new Set(appliedRows.parse(results).map((row) => row.name))
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"))
  for (const name of names.toSorted()) {
    if (!applied.has(name)) await applyMigration(database, folder, name)
  }
}

async function applyMigration(database: Database, folder: string, name: string): Promise<void> {
  const statements = unstable_splitSqlQuery(readFileSync(join(folder, name), "utf8"))
  await database.batch([
    ...statements.map((statement) => database.prepare(statement)),
    database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name),
  ])
}
