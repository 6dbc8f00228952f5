import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { runAsInvocation } from "../../scripts/start/worker/d1-limits.ts"
import { newId } from "../../src/platform/ids.ts"
import { settleTask } from "../../src/jobs/settle/settle.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { claimTask } from "../../src/db/jobs/tasks.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { startCommandTask } from "../support/media/bundle.ts"
import { makeCaller } from "../support/caller.ts"

it("a task with more than a thousand dispatches settles in one batch", async () => {
  const task = await startCommandTask(await makeCaller("dispatched"), { out_1: "a.mp4" })
  await env.DB.prepare("update tasks set state = 'waiting', slot = null, fence = 1500 where id = ?")
    .bind(task.taskId)
    .run()
  const { taskId, jobId, accountId } = task
  const database = openAccountDatabases(env, accountId)
  await claimTask(database, { taskId, jobId, slot: "media-0", allocation: 2, now: Date.now() })
  const snapshot = await readJobSnapshot(database, jobId)
  expect(snapshot?.tasks[0]?.fence).toBe(1501)
  const plain = { key: "out_1", size_bytes: 3, content_type: "video/mp4" }
  const report = {
    kind: "finished" as const,
    boot: "boot",
    at: new Date().toISOString(),
    processing_seconds: 1,
    result: { kind: "command", outputs: [plain] },
  }
  const settled = runAsInvocation(() => settleTask(env, { ...task, fence: 1501 }, report))
  expect((await settled).outcome).toBe("settled")
  const left = await env.DB.prepare(
    "delete from garbage where prefix between ? and ? returning prefix",
  )
    .bind(`${accountId}/tasks/${taskId}/`, `${accountId}/tasks/${taskId}/~`)
    .all()
  // Prefixes of earlier runs, and the one that all runs share.
  expect(left.results).toHaveLength(1501)
})

it("a thousand open tasks with large work are reconciled in one invocation", async () => {
  const accountId = newId()
  const work = JSON.stringify({ kind: "command", commands: [["x".repeat(30_000)]] })
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)`
  const now = Date.now()
  const rows = "printf('%08x-0000-7000-8000-%012x', i, ?)"
  await env.DB.prepare(
    `insert into jobs (id, account_id, kind, state, version, priority, request, origin,
       processing_ms, attempts, created_at, accepted_at)
       ${numbers} select ${rows}, ?, 'command', 'waiting', 0, 50, '{"output_files":{}}', 'https://x',
       0, 0, ?, ? from n`,
  )
    .bind(now, accountId, now, now)
    .run()
  await env.DB.prepare(
    `insert into tasks (id, job_id, account_id, state, fence, priority, pool, work, failures,
       interruptions, created_at) ${numbers} select ${rows}, ${rows}, ?, 'waiting', 0, 50, 'media',
       ?, 0, 0, ? from n`,
  )
    .bind(now, now, accountId, work, now)
    .run()
  await env.DB.prepare(
    `insert into task_inputs (task_id, key, file_id) ${numbers} select ${rows}, 'in_1', 'gone' from n`,
  )
    .bind(now)
    .run()
  // Their input is deleted, so that each ends by its own batch.
  await env.DISPATCHER.getByName(accountId).tick(accountId)
  const ended = env.DB.prepare(
    "select count(*) as n from jobs where account_id = ? and error_code = 'input_deleted'",
  ).bind(accountId)
  expect(await ended.first("n")).toBeGreaterThan(10)
  await runAsInvocation(async () => await env.DISPATCHER.getByName(accountId).tick(accountId))
  expect(await ended.first("n")).toBeGreaterThan(20)
})
