import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { computeExpiryTransition } from "../../../src/scheduler/expire-waiting-jobs.ts"
import { transitionJob } from "../../../src/jobs/settle/settle.ts"
import { sweepDirectly } from "../../support/sweep.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { decryptTaskSecrets } from "../../../src/db/jobs/task-secrets.ts"
import { claimTask } from "../../../src/db/jobs/tasks.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { finishFetch } from "../../support/media/fetched.ts"
import { endOnlyTask } from "../../support/tasks.ts"

const DAY_MS = 24 * 3_600_000
const WEBHOOK = "https://receiver.example/"

function cookiesOf(value: string): string {
  return [".video.example.com", "TRUE", "/", "TRUE", "0", "session", value].join("\t")
}

/** Creates a fetch with cookies whose value occurs nowhere else. */
async function createSecret() {
  const caller = await makeCaller(crypto.randomUUID())
  const value = crypto.randomUUID()
  const url = "https://video.example.com/watch?v=1"
  const cookies = cookiesOf(value)
  const answer = await caller.post("/fetch", { url, cookies, webhook: WEBHOOK })
  const text = await answer.text()
  expect(answer.status).toBe(202)
  expect(text).not.toContain(value)
  const { fetch_id: id } = z.object({ fetch_id: z.uuid() }).parse(JSON.parse(text))
  return { caller, id, value }
}

/** Returns the tables with a text in any row. */
async function tablesWith(text: string): Promise<string[]> {
  const names = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '_cf%' and name not like 'sqlite_%'",
  ).all<{ name: string }>()
  const found = []
  for (const { name } of names.results) {
    const { results } = await env.DB.prepare(`select * from "${name}"`).all()
    if (JSON.stringify(results).includes(text)) found.push(name)
  }
  return found
}

/** Counts the rows of secrets of a job's tasks. */
async function countSecrets(jobId: string): Promise<number | null> {
  const query = "select count(*) as n from task_secrets where job_id = ?"
  return await env.DB.prepare(query).bind(jobId).first<number>("n")
}

async function isInMedia(text: string): Promise<boolean> {
  for (const { key } of (await env.MEDIA.list()).objects) {
    if ((await (await env.MEDIA.get(key))?.text())?.includes(text)) return true
  }
  return false
}

async function shownOf(caller: TestCaller, id: string): Promise<string> {
  const paths = [`/fetch/${id}`, "/fetch", `/jobs/${id}`, "/jobs", "/webhooks/deliveries"]
  const answers = await Promise.all(paths.map(async (path) => await caller.call(path)))
  return (await Promise.all(answers.map((answer) => answer.text()))).join("\n")
}

describe("the cookies of a fetch", () => {
  it("are in the task's order and in plain text in no row", async () => {
    const { caller, id, value } = await createSecret()
    expect(await tablesWith(value)).toEqual([])
    expect(await isInMedia(value)).toBe(false)
    expect(await countSecrets(id)).toBe(1)
    expect(await shownOf(caller, id)).not.toContain(value)
    const database = openAccountDatabases(env, await findCallerAccountId(caller))
    const taskId = (await readJobSnapshot(database, id))?.tasks[0]?.id ?? ""
    const held = env.DB.prepare("select slot, allocation from tasks where id = ?")
    const own = { slot: "fetch-0", allocation: 2 ** 45 }
    await claimTask(database, { taskId, jobId: id, ...own, now: Date.now() })
    const claim = await held.bind(taskId).first<typeof own>()
    const again = { taskId, jobId: id, ...(claim ?? own), now: Date.now() }
    const sealed = (await claimTask(database, again))?.sealedSecrets ?? ""
    const secrets = await decryptTaskSecrets(env.LATHE_SECRET ?? "", taskId, sealed)
    expect(secrets?.cookies).toMatch(new RegExp(`^# Netscape HTTP Cookie File\n.*${value}\n$`))
  })

  it.each([
    ["succeeded", (caller: TestCaller, id: string) => finishFetch(caller, id)],
    [
      "failed",
      async (caller: TestCaller, id: string) =>
        await endOnlyTask(await findCallerAccountId(caller), id, {
          failure: { code: "not_found", message: "There is no such page." },
        }),
    ],
    [
      "was canceled",
      async (caller: TestCaller, id: string) =>
        await caller.call(`/jobs/${id}/cancel`, { method: "POST" }),
    ],
    [
      "expired",
      async (caller: TestCaller, id: string) => {
        const job = { accountId: await findCallerAccountId(caller), jobId: id }
        const now = Date.now() + 2 * DAY_MS
        await transitionJob(env, job, (read) =>
          computeExpiryTransition(read, { now, waitMsMax: DAY_MS, arrivedAt: 0 }),
        )
      },
    ],
    [
      "was deleted",
      async (caller: TestCaller, id: string) =>
        await caller.call(`/fetch/${id}`, { method: "DELETE" }),
    ],
  ])("are removed after it %s", async (_, end) => {
    const { caller, id, value } = await createSecret()
    expect(await countSecrets(id)).toBe(1)
    await end(caller, id)
    expect(await countSecrets(id)).toBe(0)
    expect(await tablesWith(value)).toEqual([])
    expect(await isInMedia(value)).toBe(false)
    expect(await shownOf(caller, id)).not.toContain(value)
  })

  it("are removed by the sweep if their row is left over", async () => {
    const { id } = await createSecret()
    const open = await createSecret()
    await env.DB.prepare("update jobs set state = 'failed', completed_at = 1 where id = ?")
      .bind(id)
      .run()
    await sweepDirectly(env, Date.now())
    expect([await countSecrets(id), await countSecrets(open.id)]).toEqual([0, 1])
  })

  it("prevent a retry, whose refusal names the reason", async () => {
    const { caller, id } = await createSecret()
    await finishFetch(caller, id)
    const answer = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({
      code: "not_retryable",
      message: expect.stringContaining("cookies") as unknown,
    })
  })

  it("are compared when an Idempotency-Key is used again", async () => {
    const caller = await makeCaller(crypto.randomUUID())
    const key = crypto.randomUUID()
    async function send(value: string) {
      return await caller.call("/fetch", {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ url: "https://a.example/", cookies: cookiesOf(value) }),
      })
    }
    const first = await (await send("one")).json<{ fetch_id: string }>()
    const second = await send("one")
    expect(second.headers.get("idempotent-replayed")).toBe("true")
    expect(await second.json()).toMatchObject({ fetch_id: first.fetch_id })
    expect((await send("two")).status).toBe(409)
  })
})
