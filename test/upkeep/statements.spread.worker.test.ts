import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { runAsInvocation, takePeakStatementCount } from "../../scripts/start/worker/d1-limits.ts"
import type { Env } from "../../src/bindings/env.ts"
import worker from "../../src/index.ts"
import { newAccountId, newId } from "../../src/platform/ids.ts"
import { PLAN_LIMITS } from "../../src/domain/plans.ts"
import { createPlan } from "../../src/accounts/manage-plans.ts"
import { readServiceState } from "../../src/upkeep/service-state.ts"
import { sweepDirectory } from "../../src/upkeep/sweep.ts"
import { getDatabaseBinding, countDatabases } from "../../src/db/database.ts"
import { queryEachDatabase } from "../support/db/spread.ts"

const STATEMENTS_MAX = 1_000
const DATABASES_MAX = 32
const DAY_MS = 24 * 3_600_000
const OLD = Date.now() - 500 * DAY_MS
/** Rows of one round of the sweep, and of more than all of its rounds. */
const [SOME, MANY] = [300, 6_200]

const ID = "lower(hex(randomblob(16)))"
const KEY = `'account/uploads/' || ${ID} || '/media'`

/** Rows that give each chore of a sweep some work. */
const BACKLOG: [count: number, insert: string][] = [
  [
    MANY,
    `insert into jobs (id, account_id, kind, state, version, priority, request, origin, processing_ms, attempts, created_at, completed_at) select ${ID}, 'account', 'command', 'succeeded', 1, 50, '{}', 'https://x', 1, 1, ${OLD}, ${OLD} from n`,
  ],
  [
    MANY,
    `insert into jobs (id, account_id, kind, state, version, priority, request, origin, processing_ms, attempts, created_at, completed_at, retention_ms) select ${ID}, 'account', 'command', 'succeeded', 1, 50, '{}', 'https://x', 1, 1, ${OLD}, ${OLD}, 1 from n`,
  ],
  [
    MANY,
    `insert into deliveries (id, account_id, job_id, type, url, body, state, tries, next_try_at, created_at, completed_at) select ${ID}, 'account', ${ID}, 'x', 'https://x', '{}', 'delivered', 1, ${OLD}, ${OLD}, ${OLD} from n`,
  ],
  [
    MANY,
    `insert into metadata_lookups (account_id, url_hash, job_id, created_at) select 'account', ${ID}, ${ID}, ${OLD} from n`,
  ],
  [
    MANY,
    `insert into garbage (prefix, due_at, deletions) select 'account/tasks/' || ${ID} || '/', ${OLD}, 0 from n`,
  ],
  [
    SOME,
    `insert into uploads (id, account_id, object_key, created_at) select ${ID}, 'account', ${KEY}, ${OLD} from n`,
  ],
  [
    SOME,
    `insert into receiver_outages (account_id, receiver, failing_since, failed_at, tries, due_at) select 'account ' || (i % 30), 'https://' || i || '.test', ${Date.now() - DAY_MS}, ${Date.now()}, 9, ${OLD} from n`,
  ],
]

/** Returns an environment with the largest number of databases; some have several numbers. */
function envOfMany(): Env {
  const others = Array.from({ length: DATABASES_MAX }, (_, at) => {
    return [`DB_${at + 1}`, getDatabaseBinding(env, 1 + (at % countDatabases(env)))] as const
  })
  return { ...env, ...Object.fromEntries(others), DATABASES: String(DATABASES_MAX) }
}

async function fill(database: D1Database): Promise<void> {
  await database.batch(
    BACKLOG.map(([count, insert]) =>
      database.prepare(
        insert.replace(
          " select ",
          ` with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select `,
        ),
      ),
    ),
  )
}

async function peakOf(work: () => Promise<unknown>): Promise<number> {
  takePeakStatementCount()
  await runAsInvocation(work)
  return takePeakStatementCount()
}

describe("the statements of an invocation stay within D1's limit", () => {
  beforeAll(async () => {
    // Each failing receiver logs a line.
    vi.spyOn(console, "warn").mockReturnValue()
    const numbers = Array.from({ length: countDatabases(env) }, (_, at) => at + 1)
    for (const number of numbers) await fill(getDatabaseBinding(env, number))
  })

  it("for a sweep with work for every chore in each of four databases", async () => {
    takePeakStatementCount()
    const controller = { scheduledTime: Date.now(), cron: "@reboot", noRetry() {} }
    await runAsInvocation(async () => await worker.scheduled(controller, env))
    const peak = takePeakStatementCount()
    expect(peak).toBeGreaterThan(300)
    expect(peak).toBeLessThanOrEqual(STATEMENTS_MAX)
    const left = await queryEachDatabase(
      "select count(*) as n from jobs where retention_ms is null",
    )
    expect(left).toEqual(Array(4).fill([{ n: MANY - 6_000 }]))
    expect(await queryEachDatabase("select count(*) as n from uploads")).toEqual(
      Array(4).fill([{ n: 0 }]),
    )
  })

  it("for a sweep of the directory of 32 databases", async () => {
    const accounts = Array.from({ length: 200 }, (_, at) => newAccountId(2 + (at % 3)))
    await env.DB.batch(
      accounts.map((id) =>
        env.DB.prepare(
          "insert into accounts (id, name, plan, webhook_secret, created_at, database) values (?1, ?1, 'trial', 'x', 0, 2)",
        ).bind(id),
      ),
    )
    await env.DB.batch(
      accounts
        .slice(0, 60)
        .flatMap((id) => [
          env.DB.prepare(
            "insert into users (id, account_id, name, email, email_verified, created_at, updated_at) values (?1, ?1, 'x', ?1, 0, 0, 0)",
          ).bind(id),
        ]),
    )
    await env.DB.prepare(
      "update accounts set deleted_at = 1, purge_at = 1 where id in (select id from accounts order by id desc limit 20)",
    ).run()
    const peak = await peakOf(async () => await sweepDirectory(envOfMany(), Date.now()))
    expect(peak).toBeGreaterThan(300)
    expect(peak).toBeLessThanOrEqual(STATEMENTS_MAX)
  })

  it("for the state of the service and a change of plans over 32 databases", async () => {
    const many = envOfMany()
    for (let made = 0; made < 60; made += 1) {
      await env.DB.prepare("insert into plans values (?, ?, 0, 0)")
        .bind(newId(), JSON.stringify(PLAN_LIMITS.trial))
        .run()
    }
    expect(await peakOf(async () => await readServiceState(many))).toBeLessThanOrEqual(
      STATEMENTS_MAX,
    )
    const name = newId()
    const limits = { ...PLAN_LIMITS.trial, runSecondsMax: 77 }
    const peak = await peakOf(async () => await createPlan(many, name, limits))
    expect(peak).toBeLessThanOrEqual(STATEMENTS_MAX)
    const each = await queryEachDatabase(
      `select limits ->> 'runSecondsMax' as max from plans where name = '${name}'`,
    )
    expect(each).toEqual(Array(4).fill([{ max: 77 }]))
  })
})
