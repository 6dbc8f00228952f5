import { env } from "cloudflare:workers"
import type { Env } from "../../../src/bindings/env.ts"

/** SQL statement that was sent to a database, with its values. */
export type SentStatement = { sql: string; values: unknown[] }

/** Returns an environment whose database records the statements that it gets. */
export function makeRecordingEnv(): { watched: Env; asked: SentStatement[] } {
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

/**
 * Pattern of a plan step that scans a whole table. Does not match scans of JSON values and
 * subqueries.
 */
export const TABLE_SCAN_STEP = /^SCAN (?!json_each|CONSTANT ROW|\(subquery|(?:found|counted)\b)/

/** Returns the steps of SQLite's query plan for each statement. */
export async function explainStatements(
  asked: SentStatement[],
): Promise<{ sql: string; steps: string[] }[]> {
  return await Promise.all(
    asked.map(async ({ sql, values }) => {
      const explain = env.DB.prepare(`explain query plan ${sql}`).bind(...values)
      const { results } = await explain.all()
      return { sql, steps: results.map((row) => String(row["detail"])) }
    }),
  )
}
