import { env } from "cloudflare:workers"
import { describe, expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { transitionJob } from "../../src/jobs/settle/settle.ts"
import { computeEndTransition } from "../../src/jobs/settle/transitions.ts"
import { collectGarbage } from "../../src/objects/collect-garbage.ts"
import { sweepDirectly } from "../support/sweep.ts"
import { openAccountDatabases, openDirectory } from "../../src/db/database.ts"
import { draftJobRow, draftTask } from "../../src/domain/job-draft.ts"
import { createLargeValueWriter } from "../../src/db/values/large-values.ts"
import { spillDraftToR2 } from "../../src/db/values/overflow.ts"
import { listOpenTasks } from "../../src/db/jobs/open-tasks.ts"
import { readJobSnapshot } from "../../src/db/jobs/apply-transition.ts"
import { hydrateSnapshot } from "../../src/db/values/hydrate.ts"
import { findCallerAccountId, makeBundleReport, startCommandTask } from "../support/media/bundle.ts"
import { makeCaller } from "../support/caller.ts"
import type { TestCaller } from "../support/caller.ts"
import { makeJobProperties } from "../support/job-facts.ts"
import { makeLongBundleMembers } from "../support/media/long-members.ts"

type File = { id: string; name: string; download_url: string }
type Command = {
  status: string
  original_request: { ffmpeg_commands?: string[] }
  output_files: Record<string, File & { files?: File[] }>
}

const DAY_MS = 24 * 3_600_000
const WEBHOOK = "https://receiver.example/"

async function listKeys(prefix: string): Promise<string[]> {
  const keys: string[] = []
  for (let cursor: string | undefined; ;) {
    const page = await env.MEDIA.list({ prefix, ...(cursor !== undefined && { cursor }) })
    keys.push(...page.objects.map(({ key }) => key))
    if (!page.truncated) return keys
    cursor = page.cursor
  }
}

async function valuesOf(accountId: string): Promise<string[]> {
  return (await listKeys(`${accountId}/`)).filter((key) => key.includes("/values/"))
}

async function countUploads(accountId: string): Promise<number | null> {
  const query = "select count(*) as n from uploads where account_id = ?"
  return await env.DB.prepare(query).bind(accountId).first<number>("n")
}

async function readCommand(owner: TestCaller, id: string): Promise<Command> {
  return await (await owner.call(`/commands/${id}`)).json<Command>()
}

/** Returns a request whose commands have about a million bytes. */
function largeRequest() {
  const line = `ffmpeg -f lavfi -i testsrc2=d=1 -metadata comment=${"y".repeat(50_000)} {{out_1}}`
  return {
    input_files: {},
    output_files: { out_1: "out.mp4" },
    ffmpeg_commands: Array.from({ length: 20 }, () => line),
    webhook: WEBHOOK,
  }
}

describe("a command whose commands have a million bytes", () => {
  it("is accepted, shown whole by GET, listed without them, retried and deleted", async () => {
    const owner = await makeCaller("large-request")
    const accountId = await findCallerAccountId(owner)
    const request = largeRequest()
    const created = await owner.post("/commands", request)
    expect(created.status).toBe(202)
    const { command_id: id } = await created.json<{ command_id: string }>()
    expect((await readCommand(owner, id)).original_request.ffmpeg_commands).toEqual(
      request.ffmpeg_commands,
    )
    const listed = await (await owner.call("/commands")).text()
    expect(listed.length).toBeLessThan(10_000)
    expect(JSON.parse(listed)).toMatchObject([{ id, output_files: { out_1: "out.mp4" } }])
    expect(await valuesOf(accountId)).toHaveLength(2)
    expect(await countUploads(accountId)).toBe(0)
    await owner.call(`/jobs/${id}/cancel`, { method: "POST" })
    const retried = await owner.call(`/jobs/${id}/retry`, { method: "POST" })
    const { id: again } = await retried.json<{ id: string }>()
    expect((await readCommand(owner, again)).original_request.ffmpeg_commands).toEqual(
      request.ffmpeg_commands,
    )
    for (const each of [id, again]) await owner.call(`/commands/${each}`, { method: "DELETE" })
    await expect.poll(() => listKeys(`${accountId}/jobs/`)).toEqual([])
  })

  it("reaches its runner whole, and is not read with open tasks", async () => {
    const owner = await makeCaller("large-work")
    const accountId = await findCallerAccountId(owner)
    const created = await owner.post("/commands", largeRequest())
    const { command_id: id } = await created.json<{ command_id: string }>()
    const read = await readJobSnapshot(openAccountDatabases(env, accountId), id)
    expect(JSON.stringify(read).length).toBeLessThan(10_000)
    const [task] = (read && (await hydrateSnapshot(env.MEDIA, read)))?.tasks ?? []
    expect(task?.work["commands"]).toHaveLength(20)
    expect(JSON.stringify(task?.work).length).toBeGreaterThan(1_000_000)
    const open = await listOpenTasks(openAccountDatabases(env, accountId), [task?.id ?? ""])
    expect(open).toMatchObject([{ id: task?.id, pool: "media" }])
    expect(open[0]).not.toHaveProperty("work")
  })

  it("leaves nothing if the service dies before its batch", async () => {
    const accountId = newId()
    const id = newId()
    const facts = makeJobProperties(null)
    const work = { kind: "command", commands: [["x".repeat(100_000)]], run_seconds_max: 1 }
    const task = draftTask(facts, { jobId: id, pool: "media", work, inputs: [], blocked: false })
    const job = draftJobRow(facts, { id, kind: "command", request: largeRequest() })
    const writer = createLargeValueWriter(env.MEDIA, openAccountDatabases(env, accountId))
    await spillDraftToR2(writer, { job, tasks: [task], files: [] })
    expect(await valuesOf(accountId)).toHaveLength(2)
    await sweepDirectly(env, Date.now() + DAY_MS + 1)
    expect(await valuesOf(accountId)).toEqual([])
    expect(await countUploads(accountId)).toBe(0)
  })
})

describe("a command with the most files and the longest names", () => {
  it("settles, is shown whole, serves each member, and leaves nothing after its deletion", async () => {
    const owner = await makeCaller("large-bundle")
    const task = await startCommandTask(owner, { out_1: "f_%d.png" }, { webhookUrl: WEBHOOK })
    const members = makeLongBundleMembers()
    const served = members[4321]?.name ?? ""
    await task.store("out_1", served, "picture", "image/png")
    const told = await task.finish([makeBundleReport("out_1", members, "application/zip")])
    expect([told.status, await told.text()]).toEqual([200, expect.any(String)])
    const shown = (await readCommand(owner, task.jobId)).output_files["out_1"]
    expect(shown?.files?.map(({ name }) => name)).toEqual(members.map(({ name }) => name))
    const listed = await (await owner.call("/files")).text()
    expect(listed.length).toBeLessThan(10_000)
    const path = `/files/${shown?.id}/${encodeURIComponent(served)}`
    const redirect = await owner.call(path)
    expect(redirect.status).toBe(302)
    const media = await owner.call(redirect.headers.get("location")?.split("/v1")[1] ?? "")
    expect(media.status).toBe(404)
    expect((await owner.call(`/files/${shown?.id}/${encodeURIComponent("no such")}`)).status).toBe(
      404,
    )
    const { results } = await env.DB.prepare(
      "select length(body) as length, body_object_key as key from deliveries where job_id = ?",
    )
      .bind(task.jobId)
      .all()
    expect(results).toEqual([{ length: expect.any(Number), key: null }])
    await owner.call(`/commands/${task.jobId}`, { method: "DELETE" })
    const { accountId } = task
    await expect.poll(() => listKeys(`${accountId}/`), { timeout: 20_000 }).toEqual([])
  })
})

describe("rows", () => {
  it("leave no value after their batch lost a race", async () => {
    const owner = await makeCaller("large-race")
    const accountId = await findCallerAccountId(owner)
    const task = await startCommandTask(owner, { out_1: "a.mp4" }, { webhookUrl: WEBHOOK })
    let tries = 0
    await transitionJob(env, { accountId, jobId: task.jobId }, (snapshot) => {
      tries += 1
      const failure = { code: "canceled" as const, message: "Canceled.", lines: [] }
      const ended = computeEndTransition(snapshot, { state: "canceled", failure, now: Date.now() })
      const version = tries === 1 ? snapshot.job.version - 1 : snapshot.job.version
      snapshot.job.version = version
      const outputs = makeLongBundleMembers(500).map(({ name }) => ({
        key: name,
        fileId: newId(),
        name,
        sizeBytes: 1,
        contentType: "image/png",
      }))
      return { ...ended, job: { ...ended.job, result: { outputs } } }
    })
    expect(tries).toBe(2)
    expect(await valuesOf(accountId)).toHaveLength(1)
    expect(await countUploads(accountId)).toBe(0)
  })

  it("of old jobs and deliveries are removed with their values", async () => {
    const owner = await makeCaller("large-old")
    const accountId = await findCallerAccountId(owner)
    const created = await owner.post("/commands", largeRequest())
    const { command_id: id } = await created.json<{ command_id: string }>()
    await owner.call(`/jobs/${id}/cancel`, { method: "POST" })
    const key = `${accountId}/deliveries/${id}/values/${newId()}`
    await env.MEDIA.put(key, "{}")
    await env.DB.batch([
      env.DB.prepare("update jobs set completed_at = 1 where id = ?").bind(id),
      env.DB.prepare(
        "update deliveries set completed_at = 1, state = 'failed', id = ?, body_object_key = ? where job_id = ?",
      ).bind(id, key, id),
    ])
    expect((await valuesOf(accountId)).length).toBeGreaterThanOrEqual(3)
    await sweepDirectly(env, Date.now())
    await collectGarbage(env, openDirectory(env), Date.now() + 1)
    expect((await valuesOf(accountId)).filter((each) => each.includes(id))).toEqual([])
  })
})
