import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api"
import { describe, expect, test } from "vitest"
import { z } from "zod"

type Migration = { name: string; sql: string }

/**
 * SHA-256 of each migration. The hash of a released one never changes: docs/develop/migrations.md.
 */
const HASHES: Record<string, string> = {
  "0001_schema.sql": "2ff50d1b494439699c811883f148c7e05a1af75f4fa19caa489907fdda7854bf",
  "0002_add_file_ids_and_publish.sql":
    "2ad6c359e11ccd216304bbd8b0b5deb497c0865e1da9d5c8fd76d24582ecc27e",
  "0003_list_filters.sql": "e55a3915bd04d2d9ee559508f8bf8c4d653e354258d371fb41a30d83cbc483b2",
  "0004_webhook_endpoints.sql": "e6b289953b6555319781bcabc76d3ca994d3af0e5ff3cbc6eeb878ebc291a39c",
  "0006_chains_and_batches.sql": "ca443b42576f780d1c16926d24f6be94c9beb128ae7d19c0ef16a989f0bfb9f6",
  "0005_tus_uploads.sql": "e4e68c945f38993c2002dd1f6c07900b7cb2dea8f015450e806bf15bc5891dab",
}

const MIGRATIONS = readdirSync("migrations").map((name): Migration => ({
  name,
  sql: readFileSync(join("migrations", name), "utf8"),
}))
const SCHEMA = "src/db/schema"

const column = z.object({
  name: z.string(),
  type: z.string().toLowerCase(),
  notnull: z.number(),
  dflt_value: z.string().nullable(),
  pk: z.number(),
})
const foreignKey = z.object({
  from: z.string(),
  table: z.string(),
  to: z.string(),
  on_update: z.string(),
  on_delete: z.string(),
})
const index = z.object({ name: z.string(), unique: z.number(), sql: z.string().nullable() })

function openDatabase(statements: readonly string[]): DatabaseSync {
  const database = new DatabaseSync(":memory:")
  for (const sql of statements) database.exec(sql)
  return database
}

function listTables(database: DatabaseSync): string[] {
  const rows = database.prepare(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite%'",
  )
  return rows.all().map(({ name }) => z.string().parse(name))
}

/** Returns tables by name, each with its columns, foreign keys and indexes, ordered by name. */
function readSchema(database: DatabaseSync) {
  function read<Row>(schema: z.ZodType<Row>, query: string, table: string): Row[] {
    return z.array(schema).parse(database.prepare(query).all(table))
  }
  const tables = listTables(database).map((table): [string, unknown] => [
    table,
    {
      columns: read(column, "select * from pragma_table_info(?) order by name", table),
      keys: read(foreignKey, "select * from pragma_foreign_key_list(?) order by 3, 4", table),
      indexes: read(
        index,
        `select list.name, "unique", sql from pragma_index_list(?) as list
        join sqlite_master as made on made.name = list.name order by list.name`,
        table,
      ).map((each) => ({ ...each, sql: each.sql && normalize(each.sql) })),
    },
  ])
  return Object.fromEntries(tables)
}

/** Returns SQL without quotes of names, with normalized spaces and case. */
function normalize(sql: string): string {
  const spaced = sql.replaceAll("`", "").replaceAll(/[(),]/g, " $& ")
  return spaced.replaceAll(/\s+/g, " ").trim().toLowerCase()
}

async function schemaOfCode(): Promise<DatabaseSync> {
  const modules = z.array(z.record(z.string(), z.unknown()))
  const imported: unknown[] = await Promise.all(
    readdirSync(SCHEMA).map((name): Promise<unknown> => import(resolve(SCHEMA, name))),
  )
  const exported = modules.parse(imported).flatMap((each) => Object.entries(each))
  const tables = await generateSQLiteDrizzleJson(Object.fromEntries(exported))
  const statements = await generateSQLiteMigration(await generateSQLiteDrizzleJson({}), tables)
  return openDatabase(statements)
}

/** Inserts two rows into each table, which differ only in unique columns. */
function fillTables(database: DatabaseSync): void {
  for (const table of listTables(database)) {
    const names = database.prepare("select name from pragma_table_info(?)").all(table)
    const uniques = database.prepare(
      `select info.name from pragma_index_list(?) as list, pragma_index_info(list.name) as info
      where list."unique"`,
    )
    const unique = new Set(uniques.all(table).map(({ name }) => name))
    for (const row of [1, 2]) {
      const values = names.map(({ name }) => (unique.has(name) ? row : 1))
      database.exec(`insert or ignore into ${table} values (${values.join()})`)
    }
  }
}

function countRows(database: DatabaseSync): Map<string, unknown> {
  return new Map(
    listTables(database).map((table) => {
      return [table, database.prepare(`select count(*) as n from ${table}`).get()?.["n"]]
    }),
  )
}

/** Applies each migration to a database with rows of the version before; returns the problems. */
function tryChain(chain: readonly Migration[]): string[] {
  const database = openDatabase([])
  return chain.flatMap(({ name, sql }) => {
    const before = countRows(database)
    try {
      database.exec(`begin; ${sql}; commit`)
    } catch (error) {
      return [`${name}: ${String(error)}`]
    }
    const after = countRows(database)
    const changed = [...before].filter(
      ([table, count]) => after.has(table) && after.get(table) !== count,
    )
    const orphans = database.prepare("pragma foreign_key_check").all()
    fillTables(database)
    return [
      ...changed.map(([table]) => `${name}: the number of rows in ${table} changed`),
      ...(orphans.length > 0 ? [`${name}: rows reference missing rows`] : []),
    ]
  })
}

/** Returns the reasons why D1 may split a migration at a wrong place. */
function splittingProblems({ name, sql }: Migration): string[] {
  const lines = sql.split("\n")
  const comments = lines.filter((line) => line.trimStart().startsWith("--"))
  const triggers = lines.filter((line) => /\btrigger\b/i.test(line) && !comments.includes(line))
  return [
    ...(sql.includes("\r") ? [`${name}: a line ends with CR LF`] : []),
    ...comments.filter((line) => /['"`;]|\b(?:BEGIN|CASE|END)\b/.test(line)),
    ...triggers.filter(
      (line) => !/^(?:CREATE TRIGGER .* BEGIN .*; END|DROP TRIGGER .*);$/.test(line),
    ),
    ...triggers.filter((line) => /\bcase\b/i.test(line)),
  ]
}

describe("the migrations", () => {
  test("produce the schema of the code", async () => {
    const made = readSchema(openDatabase(MIGRATIONS.map(({ sql }) => sql)))
    expect(made).toEqual(readSchema(await schemaOfCode()))
  })

  test("apply in order, each to rows of the version before", () => {
    expect(tryChain(MIGRATIONS)).toEqual([])
  })

  test("have numbers without a gap, from 0001", () => {
    const numbers = MIGRATIONS.map(({ name }) => /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1])
    expect(numbers).toEqual(numbers.map((_, at) => String(at + 1).padStart(4, "0")))
  })

  test("equal their released versions", () => {
    const hashes = MIGRATIONS.map(({ name, sql }) => {
      return [name, createHash("sha256").update(sql).digest("hex")]
    })
    expect(Object.fromEntries(hashes)).toEqual(HASHES)
  })

  test("are split into statements alike by D1 and SQLite", () => {
    expect(MIGRATIONS.flatMap(splittingProblems)).toEqual([])
  })
})

describe("the comparison with the schema of the code", () => {
  test.each([
    "alter table jobs add column extra text",
    "alter table jobs drop column progress",
    "alter table tasks rename column slot to place",
    "drop index jobs_open; create index jobs_open on jobs (account_id, state)",
    "drop index keys_hash; create index keys_hash on keys (hash)",
    "drop table plans",
    "drop table plans; create table plans (name integer primary key not null, limits text not null, created_at integer not null, updated_at integer not null)",
    "drop table garbage; create table garbage (prefix text primary key not null, file_id text, due_at integer not null, deletions integer default 1 not null); create index garbage_due on garbage (due_at)",
  ])("finds %s", async (change) => {
    const made = readSchema(openDatabase([...MIGRATIONS.map(({ sql }) => sql), change]))
    expect(made).not.toEqual(readSchema(await schemaOfCode()))
  })
})

describe("the trial of a chain", () => {
  const first = {
    name: "1",
    sql: "create table a (id text primary key not null, b text); create table c (a_id text references a (id))",
  }

  test.each([
    [
      "a column that rows have no value for",
      "alter table a add column d text not null",
      /NOT NULL/,
    ],
    ["an index that rows contradict", "create unique index a_b on a (b)", /UNIQUE/],
    ["rows that are lost", "delete from c", /number of rows in c/],
    ["rows that lose their owner", "update c set a_id = 'none'", /FOREIGN KEY|missing rows/],
  ])("finds %s", (_, sql, problem) => {
    expect(tryChain([{ name: "1", sql }])[0]).not.toMatch(problem)
    expect(tryChain([first, { name: "2", sql }])).toEqual([expect.stringMatching(problem)])
  })

  test("passes a column with a default, and a dropped table", () => {
    const added = { name: "2", sql: "alter table a add column d integer default 0 not null" }
    expect(tryChain([first, added, { name: "3", sql: "drop table c" }])).toEqual([])
  })
})

describe("the check of statements", () => {
  test.each([
    "-- A table's rows.",
    "-- Rows; all of them.",
    "-- The trigger has a BEGIN.",
    "create trigger t after insert on a begin delete from b; end;",
    "CREATE TRIGGER t AFTER INSERT ON a\nBEGIN\n  DELETE FROM b;\nEND;",
    "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE WHEN true THEN 1 END; END;",
    "CREATE TABLE a (b TEXT);\r\n",
  ])("refuses %j", (sql) => {
    expect(splittingProblems({ name: "1", sql })).not.toEqual([])
  })
})
