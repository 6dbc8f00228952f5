import { DatabaseSync } from "node:sqlite"
import type { SQLInputValue } from "node:sqlite"
import { setImmediate as nextRound } from "node:timers/promises"
import { expect, test } from "vitest"
import { D1DatabaseObject } from "../../../scripts/start/worker/d1/database.ts"

/** A database in memory, and in which round of the event loop each statement ran. */
function openDatabase() {
  const sqlite = new DatabaseSync(":memory:")
  sqlite.exec("create table notes (id integer primary key, text text not null)")
  const rounds: number[] = []
  let round = 0
  const sql = {
    databaseSize: 0,
    exec(text: string, ...values: unknown[]) {
      if (!text.includes("total_changes")) rounds.push(round)
      const statement = sqlite.prepare(text)
      const rows = statement.all(...values.filter(isInput)).map((row) => Object.values(row))
      const isWritten = text.startsWith("insert")
      const columnNames = statement.columns().map(({ name }) => name)
      return { columnNames, rowsRead: 0, rowsWritten: isWritten ? 1 : 0, raw: () => rows }
    },
  }
  function transactionSync<Result>(work: () => Result): Result {
    sqlite.exec("begin")
    try {
      const result = work()
      sqlite.exec("commit")
      return result
    } catch (error) {
      sqlite.exec("rollback")
      throw error
    }
  }
  async function countRounds(until: Promise<unknown>): Promise<void> {
    let isOver = false
    void until.finally(() => (isOver = true))
    while (!isOver) {
      await nextRound()
      round += 1
    }
  }
  return {
    database: new D1DatabaseObject({ storage: { sql, transactionSync } }),
    rounds,
    countRounds,
  }
}

function isInput(value: unknown): value is SQLInputValue {
  return value === null || typeof value === "string" || typeof value === "number"
}

function insert(id: number, text: string | null) {
  return { sql: "insert into notes (id, text) values (?, ?)", values: [id, text] }
}

const count = { sql: "select count(*) from notes", values: [] }

test("the local database writes simultaneous batches in one transaction", async () => {
  const { database, rounds, countRounds } = openDatabase()
  const writes = [1, 2, 3].map(async (id) => await database.query([insert(id, "a")]))
  const all = Promise.all(writes)
  await countRounds(all)
  expect(await all).toEqual([1, 2, 3].map(() => ({ results: [expect.anything()] })))
  expect(rounds).toHaveLength(3)
  expect(new Set(rounds).size).toBe(1)
  expect(await database.query([count])).toMatchObject({ results: [{ rows: [[3]] }] })
})

test("a failed batch is rolled back alone", async () => {
  const { database } = openDatabase()
  const [good, bad, other] = await Promise.all([
    database.query([insert(1, "a"), insert(2, "b")]),
    database.query([insert(3, "c"), insert(4, null)]),
    database.query([insert(5, "d")]),
  ])
  expect([good, other]).toEqual([1, 2].map(() => ({ results: expect.any(Array) })))
  expect(bad).toEqual({ error: expect.stringContaining("NOT NULL") })
  expect(await database.query([count])).toMatchObject({ results: [{ rows: [[3]] }] })
})

test("a read waits for no write", async () => {
  const { database, rounds } = openDatabase()
  const answer = database.query([count])
  expect(rounds).toHaveLength(1)
  expect(await answer).toMatchObject({ results: [{ rows: [[0]] }] })
})
