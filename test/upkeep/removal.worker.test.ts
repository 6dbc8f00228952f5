import { env } from "cloudflare:workers"
import { beforeAll, expect, it } from "vitest"
import { sweepDirectly } from "../support/sweep.ts"
import { runAsInvocation } from "../../scripts/start/worker/d1-limits.ts"
import { makeRecordingEnv } from "../support/db/watched-database.ts"

const JOBS = 5_000
const ACCOUNTS = 40
/** Number of objects that really exist. */
const OBJECTS = 500
const DAY_MS = 24 * 3_600_000
/** Half of the thousand statements that D1 allows an invocation. */
const STATEMENTS_MAX = 500

const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i <= ${JOBS})`
const id = "printf('%08x-0000-7000-8000-000000000000', i)"
const accountId = `printf('account-%d', i % ${ACCOUNTS})`
const prefix = `${accountId} || '/tasks/' || ${id} || '/1/out_1/'`

async function countOf(table: string): Promise<number> {
  return Number(await env.DB.prepare(`select count(*) as n from ${table}`).first("n"))
}

/** Creates more jobs than one minute removes; all but the last ended long ago. */
beforeAll(async () => {
  const old = Date.now() - 91 * DAY_MS
  const completedAt = `iif(i <= ${JOBS}, ${old}, ${Date.now()})`
  async function insert(sql: string): Promise<void> {
    await env.DB.prepare(`insert into ${sql} from n`).run()
  }
  await insert(`jobs (id, account_id, kind, state, version, priority, request, origin, created_at,
    accepted_at, completed_at) ${numbers} select ${id}, ${accountId}, 'fetch', 'succeeded', 3, 50,
    '{}', 'https://x', ${old}, ${old}, ${completedAt}`)
  await insert(`tasks (id, job_id, account_id, state, priority, pool, work, created_at) ${numbers}
    select 't' || ${id}, ${id}, ${accountId}, 'succeeded', 50, 'fetch', '{"kind":"fetch"}', ${old}`)
  await insert(`task_inputs (task_id, key, file_id) ${numbers} select 't' || ${id}, 'a', 'b'`)
  await insert(`files (id, account_id, job_id, name, source, state, object_key, created_at,
    completed_at) ${numbers} select 'f' || ${id}, ${accountId}, ${id}, 'a', 'fetch', 'succeeded',
    ${prefix} || 'media', ${old}, ${completedAt}`)
  await insert(`deliveries (id, account_id, job_id, type, url, body, state, tries, next_try_at,
    created_at, completed_at) ${numbers} select 'd' || ${id}, ${accountId}, ${id}, 'fetch.succeeded',
    'https://x', '{}', 'delivered', 1, ${old}, ${old}, ${completedAt}`)
})

it("removes five thousand jobs with all their data in one sweep", async () => {
  const stored = env.DB.prepare(`select object_key from files order by id desc limit ${OBJECTS}`)
  const { results } = await stored.all<{ object_key: string }>()
  for (let at = 0; at < results.length; at += 100) {
    const some = results.slice(at, at + 100)
    await Promise.all(some.map(({ object_key: key }) => env.MEDIA.put(key, "x")))
  }
  const { watched, asked } = makeRecordingEnv()
  await runAsInvocation(async () => await sweepDirectly(watched, Date.now()))
  for (const table of ["jobs", "tasks", "task_inputs", "files", "deliveries"]) {
    expect([table, await countOf(table)]).toEqual([table, 1])
  }
  expect(asked.length).toBeLessThan(STATEMENTS_MAX)
  // New garbage is deleted by the next sweep, and checked again an hour later.
  await runAsInvocation(async () => await sweepDirectly(env, Date.now()))
  expect((await env.MEDIA.list()).objects).toHaveLength(1)
  const once = env.DB.prepare("select count(*) as n from garbage where deletions = 1")
  expect(await once.first("n")).toBe(JOBS)
  await sweepDirectly(env, Date.now() + 3_700_000)
  expect(await countOf("garbage")).toBe(0)
})
