import { env } from "cloudflare:workers"
import { sql } from "drizzle-orm"
import { z } from "zod"
import { countDatabases, openDatabaseByNumber } from "../../../src/db/database.ts"
import { askOperator, makeCaller } from "../caller.ts"
import type { Caller } from "../caller.ts"

/** An account with a key, and the database that its rows are in. */
export type SpreadCaller = { caller: Caller; accountId: string; database: number; name: string }

const listed = z.object({ accounts: z.tuple([z.object({ id: z.string(), database: z.number() })]) })

/** Makes an account whose rows are in a database. */
export async function makeCallerIn(database: number, plan?: "trial" | "paid") {
  for (;;) {
    const made = await makeSpreadCaller(plan)
    if (made.database === database) return made
  }
}

/** Makes an account whose rows are wherever chance has them. */
export async function makeSpreadCaller(plan?: "trial" | "paid"): Promise<SpreadCaller> {
  const name = `spread ${crypto.randomUUID()}`
  const caller = await makeCaller(name, plan)
  const answer = await askOperator(`/accounts?${new URLSearchParams({ name }).toString()}`)
  const { id, database } = listed.parse(await answer.json()).accounts[0]
  return { caller, accountId: id, database, name }
}

/** Results of a query in each database, in order. */
export async function askEach(query: string): Promise<unknown[]> {
  const numbers = Array.from({ length: countDatabases(env) }, (_, at) => at + 1)
  return await Promise.all(numbers.map((one) => openDatabaseByNumber(env, one).all(sql.raw(query))))
}

/** The databases that have rows of an account in a table. */
export async function findRows(table: string, accountId: string): Promise<number[]> {
  const column = table === "accounts" ? "id" : "account_id"
  const found = await askEach(`select 1 from ${table} where ${column} = '${accountId}'`)
  return found.flatMap((rows, at) => (z.array(z.unknown()).parse(rows).length > 0 ? [at + 1] : []))
}
