import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { INTERNAL_KIND_NAMES } from "../../src/kinds/registry.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import type { AccountDatabase } from "../../src/db/database.ts"
import { findDelivery, insertDelivery, listDeliveries } from "../../src/db/deliveries.ts"
import { listFiles } from "../../src/db/files/files.ts"
import { listJobs } from "../../src/db/jobs/jobs.ts"
import type { ListPageQuery } from "../../src/db/paging.ts"
import { explainStatements, makeRecordingEnv } from "../support/db/watched-database.ts"

const PAGE: ListPageQuery = { limit: 20, offset: 0 }
const FAILED = ["failed", "canceled"] as const
const MOMENT = Date.now()
const BOUNDED = { ...PAGE, createdAfter: 0, createdBefore: MOMENT, before: newId() }

type Ask = (own: AccountDatabase, page: ListPageQuery) => Promise<unknown>

const PAIR = { name: "order", value: "42" }

const LISTS: [string, string, Ask][] = [
  ["jobs", "jobs_listed", (own, page) => listJobs(own, {}, page)],
  ["jobs of a status", "jobs_listed", (own, page) => listJobs(own, { states: FAILED }, page)],
  ["jobs of a kind", "jobs_listed_by_kind", (own, page) => listJobs(own, { kind: "fetch" }, page)],
  [
    "jobs of a kind and a status",
    "jobs_listed_by_kind",
    (own, page) => listJobs(own, { kind: "fetch", states: ["waiting"] }, page),
  ],
  ["Files", "files_listed", (own, page) => listFiles(own, {}, page)],
  ["Files of a status", "files_listed", (own, page) => listFiles(own, { states: FAILED }, page)],
  [
    "Files of a source",
    "files_listed_by_source",
    (own, page) => listFiles(own, { source: "import" }, page),
  ],
  [
    "Files of a source and a status",
    "files_listed_by_source",
    (own, page) => listFiles(own, { source: "import", states: FAILED }, page),
  ],
  ["Files of a name", "files_listed_by_name", (own, page) => listFiles(own, { name: "a" }, page)],
  [
    "Files of a name, a source and a status",
    "files_listed_by_name",
    (own, page) => listFiles(own, { name: "a", source: "import", states: FAILED }, page),
  ],
  [
    "jobs of a pair of metadata",
    "job_metadata_listed",
    (own, page) => listJobs(own, { pair: PAIR }, page),
  ],
  [
    "jobs of a pair of metadata, a kind and a status",
    "job_metadata_listed",
    (own, page) => listJobs(own, { pair: PAIR, kind: "fetch", states: FAILED }, page),
  ],
  [
    "Files of a pair of metadata, a name, a source and a status",
    "job_metadata_listed",
    (own, page) => {
      const filter = { pair: PAIR, name: "a", source: "import", states: FAILED } as const
      return listFiles(own, filter, page)
    },
  ],
  ["deliveries", "deliveries_listed", (own, page) => listDeliveries(own, page, {})],
  [
    "deliveries of a status",
    "deliveries_listed",
    (own, page) => listDeliveries(own, page, { state: "failed" }),
  ],
]

it("the jobs that no list shows are those outside the index of lists", () => {
  expect(INTERNAL_KIND_NAMES).toEqual(["metadata"])
})

describe("the list of", () => {
  it.each(LISTS)("%s is read by the index %s, without a scan or sorting", async (_, index, ask) => {
    for (const page of [PAGE, BOUNDED]) {
      const { watched, asked } = makeRecordingEnv()
      await ask(openAccountDatabases(watched, newId()), page)
      const steps = (await explainStatements(asked)).flatMap((plan) => plan.steps)
      expect(steps.join("\n")).toContain(`INDEX ${index} `)
      expect(steps.join("\n")).not.toContain("TEMP B-TREE")
      expect(steps.filter((step) => /^SCAN (?!json_each)/.test(step))).toEqual([])
    }
  })
})

it("the list of a job's deliveries, of which there are few, is read by their job", async () => {
  const { watched, asked } = makeRecordingEnv()
  await listDeliveries(openAccountDatabases(watched, newId()), BOUNDED, { jobId: newId() })
  await listDeliveries(openAccountDatabases(watched, newId()), PAGE, {
    jobId: newId(),
    state: "failed",
  })
  for (const { steps } of await explainStatements(asked)) {
    expect(steps.join("\n")).toContain("INDEX deliveries_of_job (job_id=?)")
    expect(steps.join("\n")).not.toContain("deliveries_listed")
    expect(steps.filter((step) => /^SCAN (?!json_each)/.test(step))).toEqual([])
  }
})

it("the list of deliveries has the last tries of each, read by their key", async () => {
  const { watched, asked } = makeRecordingEnv()
  const own = openAccountDatabases(watched, newId())
  const id = newId()
  const made = { id, type: "test", url: "https://x", body: "", state: "failed" as const }
  await insertDelivery(own, { ...made, nextTryAt: 0, createdAt: 0 })
  await env.DB.prepare(
    `insert into delivery_tries (delivery_id, number, started_at, duration_ms)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < 40) select ?, i, 0, 0 from n`,
  )
    .bind(id)
    .run()
  const [listed] = await listDeliveries(own, PAGE, {})
  expect(listed?.tries.map(({ number }) => number)).toEqual(
    Array.from({ length: 16 }, (_, index) => 25 + index),
  )
  expect((await findDelivery(own, id))?.tries).toHaveLength(40)
  const plans = await explainStatements(
    asked.filter(({ sql }) => /from "delivery_tries"/.test(sql)),
  )
  for (const { steps } of plans) {
    expect(steps.join("\n")).toContain("INDEX sqlite_autoindex_delivery_tries_1 (delivery_id=?")
    expect(steps.filter((step) => /^SCAN (?!json_each)/.test(step))).toEqual([])
  }
  expect(plans).toHaveLength(2)
})

describe("a list whose filter matches few of many rows", () => {
  const accountId = newId()
  const MANY = 5000

  beforeAll(async () => {
    const rows = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY})`
    await env.DB.prepare(
      `insert into jobs (id, account_id, kind, state, version, priority, request, origin,
         processing_ms, attempts, created_at, completed_at) ${rows}
       select printf('%08x-0000-7000-8000-000000000000', i), ?,
         case i % 1000 when 1 then 'fetch' when 2 then 'command' else 'metadata' end,
         case i when 2 then 'failed' else 'succeeded' end, 0, 50, '{}', 'https://x', 0, 0, 0, 0 from n`,
    )
      .bind(accountId)
      .run()
  })

  it.each([
    ["all kinds that are listed", {}, 10],
    ["a kind", { kind: "fetch" }, 5],
    ["a status", { states: FAILED }, 1],
    ["a kind that has none of the status", { kind: "fetch", states: FAILED }, 0],
  ] as const)("reads few: %s", async (_, filter, found) => {
    const { watched, asked } = makeRecordingEnv()
    expect(await listJobs(openAccountDatabases(watched, accountId), filter, PAGE)).toHaveLength(
      found,
    )
    const [list] = asked
    if (!list) throw new Error("nothing was asked")
    const { meta } = await env.DB.prepare(list.sql)
      .bind(...list.values)
      .run()
    expect(meta.rows_read).toBeLessThan(60)
  })

  it("is ordered newest first, for all states", async () => {
    const ids = (await listJobs(openAccountDatabases(env, accountId), {}, PAGE)).map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted().toReversed())
    const second = await listJobs(openAccountDatabases(env, accountId), {}, { limit: 3, offset: 4 })
    expect(second.map(({ id }) => id)).toEqual(ids.slice(4, 7))
    const after = await listJobs(
      openAccountDatabases(env, accountId),
      {},
      { ...PAGE, before: ids[6] },
    )
    expect(after.map(({ id }) => id)).toEqual(ids.slice(7))
  })
})
