import { runDurableObjectAlarm } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { beginAccountDeletion } from "../../src/accounts/deletion.ts"
import { purgeDeletedAccounts } from "../../src/upkeep/purge.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { openDirectory } from "../../src/db/database.ts"
import { makeCaller, uploadTestFile } from "../support/caller.ts"
import { makeRecordingEnv } from "../support/db/watched-database.ts"
import {
  countAccountRows,
  insertRowInEveryTable,
  listTables,
  ACCOUNT_ROW_CONDITIONS,
} from "../support/accounts/account-rows.ts"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const STATEMENTS_MAX = 1000
/** Exceeds the jobs that one call of a dispatcher cancels. */
const OPEN_JOBS = 60
const HOOK = "https://hooks.example.com/ended"

async function accountOf(name: string): Promise<string> {
  const id = await env.DB.prepare("select id from accounts where name = ?").bind(name).first("id")
  return String(id)
}

async function makeAccount(name: string) {
  const caller = await makeCaller(name)
  return { ...caller, accountId: await accountOf(name) }
}

async function submit({ post }: Awaited<ReturnType<typeof makeCaller>>): Promise<string> {
  const answer = await post("/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
    webhook: HOOK,
  })
  expect(answer.status).toBe(202)
  return String((await answer.json<{ command_id: string }>()).command_id)
}

async function objectsOf(accountId: string): Promise<string[]> {
  const { objects } = await env.MEDIA.list({ prefix: `${accountId}/` })
  return objects.map(({ key }) => key.slice(accountId.length + 1))
}

/** Runs sweeps a minute apart, until one leaves no work. */
async function sweepUntilQuiet(accountId: string, from: number): Promise<number> {
  for (let count = 1; count < 50; count += 1) {
    await sweepDirectly(env, from + count)
    const due = await env.DB.prepare("select purge_at from accounts where id = ?")
      .bind(accountId)
      .first<number>("purge_at")
    if (due === null || due > from + 1000) return count
  }
  throw new Error("the deletion does not end")
}

async function storeObjects(accountId: string): Promise<void> {
  for (const key of ["uploads/u/media", "tasks/t/1/out_1/media", "jobs/j/values/v", "elsewhere"]) {
    await env.MEDIA.put(`${accountId}/${key}`, "x")
  }
}

describe("a deleted account", () => {
  it("has no row in any table a day later, and no other account changes", async () => {
    const [gone, kept] = [await makeAccount("all tables"), await makeAccount("all tables, kept")]
    for (const { accountId } of [gone, kept]) {
      await insertRowInEveryTable(accountId)
      await storeObjects(accountId)
    }
    const before = await countAccountRows(kept.accountId)
    expect(await countAccountRows(gone.accountId)).toEqual(before)
    expect(await beginAccountDeletion(env, gone.accountId)).toBe(true)
    await purgeDeletedAccounts(env, openDirectory(env), Date.now())
    expect(await countAccountRows(gone.accountId)).toEqual({
      accounts: 1,
      account_storage: 1,
      garbage: 1,
      keys: 2,
    })
    expect(await objectsOf(gone.accountId)).toEqual([])
    await env.MEDIA.put(`${gone.accountId}/tasks/t/1/out_1/media`, "of a run that was killed")
    await purgeDeletedAccounts(env, openDirectory(env), Date.now() + DAY_MS)
    expect(await countAccountRows(gone.accountId)).toEqual({})
    expect(await objectsOf(gone.accountId)).toEqual([])
    expect(await countAccountRows(kept.accountId)).toEqual(before)
    expect(await objectsOf(kept.accountId)).toHaveLength(4)
  })

  it("has its rows found in every table: each table names its account, or is listed here", async () => {
    for (const [table, columns] of await listTables()) {
      const isNamed = columns.some(({ name }) => name === "account_id")
      expect([table, isNamed || table in ACCOUNT_ROW_CONDITIONS]).toEqual([table, true])
    }
  })

  it("is refused at once, and its name is free", async () => {
    const { accountId, call } = await makeAccount("free again")
    expect((await call("/files")).status).toBe(200)
    await beginAccountDeletion(env, accountId)
    expect((await call("/files")).status).toBe(401)
    const other = await makeAccount("free again")
    expect(other.accountId).not.toBe(accountId)
    expect((await other.call("/files")).status).toBe(200)
    expect(await beginAccountDeletion(env, crypto.randomUUID())).toBe(false)
  })

  it("frees the address of its user, and loses its user's invitations", async () => {
    const { accountId } = await makeAccount("with a user")
    await insertRowInEveryTable(accountId)
    await beginAccountDeletion(env, accountId)
    const left = await countAccountRows(accountId)
    for (const table of ["users", "sessions", "credentials", "verifications", "invitations"]) {
      expect([table, left[table]]).toEqual([table, undefined])
    }
  })

  it("has its open jobs canceled and their webhooks sent before they are removed", async () => {
    const caller = await makeAccount("with jobs")
    const file = await uploadTestFile(caller, "clip.mp4", "not a film")
    const jobs = [await submit(caller), await submit(caller)]
    const made = await caller.post("/webhooks/endpoints", { url: "https://hooks.example.com/all" })
    const { id: endpointId } = await made.json<{ id: string }>()
    await beginAccountDeletion(env, caller.accountId)
    const { results } = await env.DB.prepare(
      "select job_id, type, endpoint_id from deliveries where account_id = ? order by job_id, endpoint_id",
    )
      .bind(caller.accountId)
      .all()
    const type = "command.canceled"
    expect(results).toEqual([
      { job_id: file.id, type: "file.canceled", endpoint_id: endpointId },
      ...jobs.toSorted().flatMap((id) => [
        { job_id: id, type, endpoint_id: "" },
        { job_id: id, type, endpoint_id: endpointId },
      ]),
    ])
    const now = Date.now()
    await sweepUntilQuiet(caller.accountId, now)
    const left = await countAccountRows(caller.accountId)
    expect([left["jobs"], left["files"], left["deliveries"]]).toEqual([undefined, undefined, 5])
    // The secret of the endpoint signs its deliveries, which wait.
    expect(left["webhook_endpoints"]).toBe(1)
    await sweepDirectly(env, now + DAY_MS + HOUR_MS)
    expect(await countAccountRows(caller.accountId)).toEqual({})
  })

  it("ends a job of a request that was admitted before", async () => {
    const caller = await makeAccount("a moment before")
    const made = await submit(caller)
    await env.DB.prepare("update accounts set deleted_at = ?, purge_at = ?2 where id = ?3")
      .bind(Date.now(), Date.now(), caller.accountId)
      .run()
    await runDurableObjectAlarm(env.DISPATCHER.getByName(caller.accountId))
    await sweepDirectly(env, Date.now())
    const type = env.DB.prepare("select type from deliveries where job_id = ?").bind(made)
    expect(await type.first("type")).toBe("command.canceled")
  })

  it("keeps the body of a webhook until it was sent", async () => {
    const { accountId } = await makeAccount("large webhook")
    await env.DB.prepare(
      `insert into deliveries (id, account_id, type, url, body, body_object_key, state, next_try_at, created_at)
       values ('large', ?1, 'command.canceled', 'https://x.example', '', ?1 || '/deliveries/large/values/v', 'waiting', ?2, 0)`,
    )
      .bind(accountId, Date.now() + DAY_MS)
      .run()
    await storeObjects(accountId)
    await env.MEDIA.put(`${accountId}/deliveries/large/values/v`, "{}")
    await beginAccountDeletion(env, accountId)
    const now = Date.now()
    await sweepUntilQuiet(accountId, now)
    expect(await objectsOf(accountId)).toEqual(["deliveries/large/values/v", "elsewhere"])
    await env.DB.prepare(
      "update deliveries set state = 'delivered', completed_at = 1 where id = 'large'",
    ).run()
    await sweepUntilQuiet(accountId, now + HOUR_MS)
    expect(await objectsOf(accountId)).toEqual([])
  })

  it("loses open uploads", async () => {
    const { accountId } = await makeAccount("uploading")
    const objectKey = `${accountId}/uploads/under-way/media`
    const multipart = await env.MEDIA.createMultipartUpload(objectKey)
    await env.DB.prepare(
      "insert into uploads (id, account_id, object_key, multipart_id, created_at) values ('under way', ?, ?, ?, ?)",
    )
      .bind(accountId, objectKey, multipart.uploadId, Date.now())
      .run()
    await beginAccountDeletion(env, accountId)
    await sweepUntilQuiet(accountId, Date.now())
    await expect(multipart.uploadPart(1, "x")).rejects.toThrow(/does not exist/)
    expect((await countAccountRows(accountId))["uploads"]).toBeUndefined()
  })
})

describe("the deletion of thousands of jobs and files", () => {
  it("continues over sweeps, each within the statements of an invocation", async () => {
    const { accountId } = await makeAccount("thousands")
    const numbers = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)"
    const id = "?1 || printf('%05d', i)"
    await env.DB.batch(
      [
        `insert into jobs (id, account_id, kind, state, version, priority, request, origin, created_at, completed_at)
         ${numbers} select ${id}, ?1, 'command', 'succeeded', 1, 50, '{}', 'https://x', 0, 9e15 from n`,
        `insert into tasks (id, job_id, account_id, state, priority, pool, work, created_at)
         ${numbers} select ${id}, ${id}, ?1, 'succeeded', 50, 'media', '{}', 0 from n`,
        `insert into files (id, account_id, job_id, name, source, state, object_key, size_bytes, created_at)
         ${numbers} select ${id}, ?1, ${id}, 'a', 'output', 'succeeded', ?1 || '/k', 1, 0 from n`,
      ].map((text) => env.DB.prepare(text).bind(accountId)),
    )
    await beginAccountDeletion(env, accountId)
    const { watched, asked } = makeRecordingEnv()
    await sweepDirectly(watched, Date.now())
    expect(asked.length).toBeLessThan(STATEMENTS_MAX)
    expect((await countAccountRows(accountId))["files"]).toBeGreaterThan(0)
    expect(await sweepUntilQuiet(accountId, Date.now())).toBeGreaterThan(1)
    const { jobs, tasks, files } = await countAccountRows(accountId)
    expect([jobs, tasks, files]).toEqual([undefined, undefined, undefined])
  })

  it("cancels more open jobs than one call of their dispatcher may", async () => {
    const caller = await makeAccount("many open")
    for (let made = 0; made < OPEN_JOBS; made += 1) await submit(caller)
    await beginAccountDeletion(env, caller.accountId)
    const open = env.DB.prepare(
      "select count(*) as n from jobs where account_id = ? and state = 'waiting'",
    ).bind(caller.accountId)
    expect(await open.first("n")).toBeGreaterThan(0)
    await sweepUntilQuiet(caller.accountId, Date.now())
    const left = await countAccountRows(caller.accountId)
    expect([left["jobs"], left["deliveries"]]).toEqual([undefined, OPEN_JOBS])
  })
})

describe("a failed step of a deletion", () => {
  it("delays no other account, and is repeated", async () => {
    // Accounts of earlier tests, which may be due by now, have their own places in a sweep.
    await env.DB.prepare("update accounts set purge_at = null").run()
    const [broken, other] = [await makeAccount("broken"), await makeAccount("behind it")]
    await storeObjects(broken.accountId)
    for (const { accountId } of [broken, other]) await beginAccountDeletion(env, accountId)
    const { MEDIA: bucket } = env
    async function list(options: R2ListOptions = {}): Promise<R2Objects> {
      if (options.prefix?.startsWith(broken.accountId)) throw new Error("R2 is down")
      return await bucket.list(options)
    }
    const MEDIA = new Proxy(bucket, {
      get: (_, name): unknown => (name === "list" ? list : Reflect.get(bucket, name)),
    })
    const now = Date.now()
    await sweepDirectly({ ...env, MEDIA }, now)
    const due = env.DB.prepare("select purge_at from accounts where id = ?")
    expect(await due.bind(broken.accountId).first("purge_at")).toBe(now + 60_000)
    expect(await due.bind(other.accountId).first("purge_at")).toBe(now + HOUR_MS)
    await sweepUntilQuiet(broken.accountId, now + 60_000)
    expect(await objectsOf(broken.accountId)).toEqual([])
  })
})
