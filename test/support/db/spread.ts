import { env } from "cloudflare:workers"
import { sql } from "drizzle-orm"
import { z } from "zod"
import { countDatabases, openDatabaseByNumber } from "../../../src/db/database.ts"
import { fetchOperatorRoute, makeCaller } from "../caller.ts"
import type { TestCaller } from "../caller.ts"

/** Caller of an account, and the number of the database that stores the account's rows. */
export type CallerInDatabase = {
  caller: TestCaller
  accountId: string
  database: number
  name: string
}

const listed = z.object({ accounts: z.tuple([z.object({ id: z.string(), database: z.number() })]) })

/** Creates accounts until one is in the database with this number. */
export async function makeCallerInDatabase(database: number, plan?: "trial" | "paid") {
  for (;;) {
    const made = await makeCallerInAnyDatabase(plan)
    if (made.database === database) return made
  }
}

/** Creates an account. The service selects the account's database. */
export async function makeCallerInAnyDatabase(plan?: "trial" | "paid"): Promise<CallerInDatabase> {
  const name = `spread ${crypto.randomUUID()}`
  const caller = await makeCaller(name, plan)
  const answer = await fetchOperatorRoute(`/accounts?${new URLSearchParams({ name }).toString()}`)
  const { id, database } = listed.parse(await answer.json()).accounts[0]
  return { caller, accountId: id, database, name }
}

/** Runs a query on each database. Returns the results in the order of the database numbers. */
export async function queryEachDatabase(query: string): Promise<unknown[]> {
  const numbers = Array.from({ length: countDatabases(env) }, (_, at) => at + 1)
  return await Promise.all(numbers.map((one) => openDatabaseByNumber(env, one).all(sql.raw(query))))
}

/** Returns the numbers of the databases that have rows of an account in a table. */
export async function findDatabasesWithRows(table: string, accountId: string): Promise<number[]> {
  const column = table === "accounts" ? "id" : "account_id"
  const found = await queryEachDatabase(`select 1 from ${table} where ${column} = '${accountId}'`)
  return found.flatMap((rows, at) => (z.array(z.unknown()).parse(rows).length > 0 ? [at + 1] : []))
}
