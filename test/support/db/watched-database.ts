import { env } from "cloudflare:workers"
import type { Env } from "../../../src/bindings/env.ts"

/** A statement that a database was asked. */
export type SentStatement = { sql: string; values: unknown[] }

/** The environment with a database that notes what it is asked. */
export function watchedEnv(): { watched: Env; asked: SentStatement[] } {
  const asked: SentStatement[] = []
  const DB = new Proxy(env.DB, {
    get(database, name) {
      if (name !== "prepare") return database[name === "batch" ? "batch" : "exec"].bind(database)
      return (sql: string) => watchedStatement(database.prepare(sql), sql, asked)
    },
  })
  return { watched: { ...env, DB }, asked }
}

function watchedStatement(statement: D1PreparedStatement, sql: string, asked: SentStatement[]) {
  return new Proxy(statement, {
    get:
      (known) =>
      (...values: unknown[]) => {
        asked.push({ sql, values })
        return known.bind(...values)
      },
  })
}

/** A step that reads a whole table, which is none of what a statement made itself and limits. */
export const SCAN_OF_TABLE = /^SCAN (?!json_each|CONSTANT ROW|\(subquery|(?:found|counted)\b)/

/** How SQLite does each statement, step by step. */
export async function plansOf(asked: SentStatement[]): Promise<{ sql: string; steps: string[] }[]> {
  return await Promise.all(
    asked.map(async ({ sql, values }) => {
      const explain = env.DB.prepare(`explain query plan ${sql}`).bind(...values)
      const { results } = await explain.all()
      return { sql, steps: results.map((row) => String(row["detail"])) }
    }),
  )
}
