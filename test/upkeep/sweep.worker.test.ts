import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import type { Env } from "../../src/bindings/env.ts"
import { newId } from "../../src/platform/ids.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { openAllDatabases } from "../../src/db/database.ts"
import { listAbandonedUploads } from "../../src/db/files/uploads.ts"
import {
  explainStatements,
  TABLE_SCAN_STEP,
  makeRecordingEnv,
} from "../support/db/watched-database.ts"
import type { SentStatement } from "../support/db/watched-database.ts"

const FINISHED_JOBS = 100_000
const ROWS_READ_MAX = 100
const DAY_MS = 24 * 3_600_000

async function sweepWatched(): Promise<SentStatement[]> {
  const { watched, asked } = makeRecordingEnv()
  await sweepDirectly(watched, Date.now())
  return asked
}

describe("a sweep over many finished jobs", () => {
  beforeAll(async () => {
    const now = Date.now()
    const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${FINISHED_JOBS})`
    const id = "printf('%08x-0000-7000-8000-000000000000', i)"
    await env.DB.prepare(
      `insert into jobs (id, account_id, kind, state, version, priority, request, origin,
       processing_ms, attempts, created_at, accepted_at, started_at, completed_at)
       ${numbers} select ${id}, 'account', 'command', 'succeeded', 3, 50, '{}', 'https://x',
       1, 1, ${now}, ${now}, ${now}, ${now} from n`,
    ).run()
    await env.DB.prepare(
      `insert into tasks (id, job_id, account_id, state, fence, priority, pool, work, failures,
       interruptions, created_at) ${numbers} select ${id}, ${id}, 'account', 'succeeded', 1, 50,
       'media', '{}', 0, 0, ${now} from n`,
    ).run()
    await env.DB.prepare(
      `insert into deliveries (id, account_id, job_id, type, url, body, state, tries, next_try_at,
       created_at) ${numbers} select ${id}, 'account', ${id}, 'command.succeeded', 'https://x', '{}',
       'delivered', 1, ${now}, ${now} from n`,
    ).run()
  })

  it("reads at most a hundred rows without work", async () => {
    const asked = await sweepWatched()
    const results = await Promise.all(
      asked.map(({ sql, values }) =>
        env.DB.prepare(sql)
          .bind(...values)
          .all(),
      ),
    )
    const rowsRead = results.reduce((sum, { meta }) => sum + Number(meta["rows_read"]), 0)
    expect(asked.length).toBeGreaterThan(4)
    expect(rowsRead).toBeLessThanOrEqual(ROWS_READ_MAX)
  })

  it("runs only queries on indexes", async () => {
    for (const { sql, steps } of await explainStatements(await sweepWatched())) {
      const scans = steps.filter(
        (step) => TABLE_SCAN_STEP.test(step) && !/USING .*INDEX/.test(step),
      )
      expect([sql, scans]).toEqual([sql, []])
    }
  })

  it("finds a job that no dispatcher accepted, and its account", async () => {
    const [id, accountId] = [newId(), newId()]
    await env.DB.prepare(
      `insert into jobs (id, account_id, kind, state, version, priority, request, origin,
       processing_ms, attempts, created_at) values (?, ?, 'command', 'waiting', 0, 50, '{}',
       'https://x', 0, 0, ?)`,
    )
      .bind(id, accountId, Date.now() - DAY_MS)
      .run()
    await env.DB.prepare(
      `insert into tasks (id, job_id, account_id, state, fence, priority, pool, work, failures,
       interruptions, created_at) values (?, ?, ?, 'waiting', 0, 50, 'light', ?, 0, 0, ?)`,
    )
      .bind(newId(), id, accountId, JSON.stringify({ kind: "probe" }), Date.now() - DAY_MS - 1)
      .run()
    await sweepDirectly(env, Date.now())
    const state = env.DB.prepare("select state, error_code from jobs where id = ?").bind(id)
    await expect.poll(() => state.first()).toEqual({ state: "failed", error_code: "expired" })
  })

  it("removes finished jobs after their retention, and keeps their files", async () => {
    const jobs = env.DB.prepare("select count(*) as n from jobs")
    const before = Number(await jobs.first("n"))
    const old = await env.DB.prepare("select id from jobs where state = 'succeeded' limit 1").first(
      "id",
    )
    await env.DB.prepare("update jobs set completed_at = ? where id = ?")
      .bind(Date.now() - 91 * DAY_MS, old)
      .run()
    await env.DB.prepare("update deliveries set completed_at = ? where job_id = ?")
      .bind(Date.now() - 91 * DAY_MS, old)
      .run()
    await env.DB.prepare(
      `insert into files (id, account_id, job_id, name, source, state, object_key, created_at)
       values (?, 'account', ?, 'a', 'output', 'succeeded', 'k', 0)`,
    )
      .bind(newId(), old)
      .run()
    await sweepDirectly(env, Date.now())
    expect(await jobs.first("n")).toBe(before - 1)
    for (const [table, left] of Object.entries({ tasks: 0, deliveries: 0, files: 1 })) {
      const count = env.DB.prepare(`select count(*) as n from ${table} where job_id = ?`).bind(old)
      expect([table, await count.first("n")]).toEqual([table, left])
    }
  })

  it("removes uploads that were abandoned for a day, and no others", async () => {
    const old = {
      id: newId(),
      key: `account/uploads/${newId()}/media`,
      at: Date.now() - DAY_MS - 1,
    }
    const young = { id: newId(), key: `account/uploads/${newId()}/media`, at: Date.now() }
    for (const { id, key, at } of [old, young]) {
      await env.MEDIA.put(key, "x")
      await env.DB.prepare(
        "insert into uploads (id, account_id, object_key, created_at) values (?, 'account', ?, ?)",
      )
        .bind(id, key, at)
        .run()
    }
    await sweepDirectly(env, Date.now())
    expect(await env.MEDIA.head(old.key)).toBeNull()
    expect(await env.MEDIA.head(young.key)).not.toBeNull()
    const { results } = await env.DB.prepare("select id from uploads").all()
    expect(results).toEqual([{ id: young.id }])
  })

  it("removes uploads of an earlier process if its Worker has only one", async () => {
    const startedAt = Date.now() + DAY_MS
    async function openUpload({ at, taskId = null }: { at: number; taskId?: string | null }) {
      const id = newId()
      const insert = `insert into uploads (id, account_id, object_key, task_id, created_at)
        values (?1, 'account', 'account/uploads/' || ?1 || '/media', ?2, ?3)`
      await env.DB.prepare(insert).bind(id, taskId, at).run()
      await env.MEDIA.put(`account/uploads/${id}/media`, "x")
      return id
    }
    const dead = await openUpload({ at: startedAt - 1 })
    const live = await openUpload({ at: startedAt })
    const ofTask = await openUpload({ at: startedAt - 1, taskId: newId() })
    await sweepDirectly(env, startedAt, { isStart: true })
    const kept = await Promise.all(
      [dead, live, ofTask].map(async (id) => await env.MEDIA.head(`account/uploads/${id}/media`)),
    )
    expect(kept.map((object) => object !== null)).toEqual([false, true, true])
  })

  it("deletes objects below garbage twice with an hour between, then the garbage row", async () => {
    const prefix = `account/tasks/${newId()}/1/`
    const now = Date.now()
    await env.DB.prepare("insert into garbage (prefix, due_at, deletions) values (?, ?, 0)")
      .bind(prefix, now)
      .run()
    await env.MEDIA.put(`${prefix}out_1/media`, "x")
    await sweepDirectly(env, now)
    expect(await env.MEDIA.head(`${prefix}out_1/media`)).toBeNull()
    await env.MEDIA.put(`${prefix}out_1/media`, "late")
    await sweepDirectly(env, now + 1)
    expect(await env.MEDIA.head(`${prefix}out_1/media`)).not.toBeNull()
    await sweepDirectly(env, now + 3_600_000)
    expect(await env.MEDIA.head(`${prefix}out_1/media`)).toBeNull()
    const left = env.DB.prepare("select count(*) as n from garbage where prefix = ?").bind(prefix)
    expect(await left.first("n")).toBe(0)
  })

  it("deletes other garbage although one prefix fails, and retries that later", async () => {
    const [bad, good] = [`account/tasks/${newId()}/1/`, `account/tasks/${newId()}/1/`]
    const now = Date.now()
    for (const [prefix, dueAt] of [
      [bad, now - 2],
      [good, now - 1],
    ]) {
      await env.DB.prepare("insert into garbage (prefix, due_at, deletions) values (?, ?, 0)")
        .bind(prefix, dueAt)
        .run()
      await env.MEDIA.put(`${prefix}out_1/media`, "x")
    }
    await sweepDirectly(
      withMedia("list", (given) => JSON.stringify(given).includes(bad)),
      now,
    )
    expect(await env.MEDIA.head(`${good}out_1/media`)).toBeNull()
    const due = env.DB.prepare("select due_at from garbage where prefix = ?").bind(bad)
    expect(await due.first("due_at")).toBeGreaterThan(now)
    await sweepDirectly(env, now + 3_600_000)
    expect(await env.MEDIA.head(`${bad}out_1/media`)).toBeNull()
  })

  it("removes other uploads although one fails, and retries that after them", async () => {
    const uploads = [2, 1].map((daysAgo) => ({
      id: newId(),
      key: `account/uploads/${newId()}/media`,
      at: Date.now() - daysAgo * DAY_MS - 1,
    }))
    for (const { id, key, at } of uploads) {
      await env.MEDIA.put(key, "x")
      await env.DB.prepare(
        "insert into uploads (id, account_id, object_key, created_at) values (?, 'account', ?, ?)",
      )
        .bind(id, key, at)
        .run()
    }
    const [bad, good] = uploads.map(({ key }) => key)
    await sweepDirectly(
      withMedia("delete", (given) => given === bad),
      Date.now(),
    )
    expect(await env.MEDIA.head(good ?? "")).toBeNull()
    expect(await env.MEDIA.head(bad ?? "")).not.toBeNull()
    const late = { id: newId(), key: "account/uploads/late/media", at: Date.now() - 2 * DAY_MS }
    await env.DB.prepare(
      "insert into uploads (id, account_id, object_key, created_at) values (?, 'account', ?, ?)",
    )
      .bind(late.id, late.key, late.at)
      .run()
    const [database] = openAllDatabases(env)
    const listed = database ? await listAbandonedUploads(database, Date.now() - DAY_MS, 10) : []
    expect(listed.map(({ objectKey }) => objectKey)).toEqual([late.key, bad])
    await sweepDirectly(env, Date.now())
    expect(await env.MEDIA.head(bad ?? "")).toBeNull()
  })
})

/** Returns an environment with a bucket that fails one kind of call for some arguments. */
function withMedia(failing: "list" | "delete", fits: (given: unknown) => boolean): Env {
  const MEDIA = new Proxy(env.MEDIA, {
    get(bucket, name) {
      const call: unknown = Reflect.get(bucket, name)
      if (!(call instanceof Function)) return call
      return (...given: unknown[]): unknown => {
        if (name === failing && fits(given[0])) throw new Error("the bucket is not there")
        return Reflect.apply(call, bucket, given)
      }
    },
  })
  return { ...env, MEDIA }
}
