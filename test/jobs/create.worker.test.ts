import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../src/bindings/env.ts"
import { newId } from "../../src/platform/ids.ts"
import { acceptJob } from "../../src/jobs/create.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { draftJobRow, draftTask } from "../../src/domain/job-draft.ts"
import { makeJobProperties } from "../support/job-facts.ts"

/** A bucket whose first put is slow, and whose second put fails. */
function withFailingBucket(): Env {
  let puts = 0
  async function put(key: string, text: string): Promise<void> {
    puts += 1
    if (puts > 1) throw new Error("R2 does not answer")
    await scheduler.wait(200)
    await env.MEDIA.put(key, text)
  }
  const MEDIA = { put, delete: async (key: string) => await env.MEDIA.delete(key) }
  return envWith({ MEDIA })
}

function envWith(bindings: object): Env {
  const faked: object = { ...env, ...bindings }
  if (!isEnv(faked)) throw new Error("no environment")
  return faked
}

function isEnv(made: object): made is Env {
  return "MEDIA" in made && "DB" in made
}

/** Accepts a job of one task, and waits for the work after the response. */
async function acceptOne(where: Env, commands: string[][], accountId = newId()): Promise<string> {
  const id = newId()
  const facts = makeJobProperties(null)
  const work = { kind: "command" as const, commands, outputs: [], run_seconds_max: 1 }
  const draft = {
    job: draftJobRow(facts, { id, kind: "command", request: { commands, output_files: {} } }),
    tasks: [draftTask(facts, { pool: "media", jobId: id, work, inputs: [], blocked: false })],
    files: [],
  }
  const background: Promise<unknown>[] = []
  const ctx = { waitUntil: (work: Promise<unknown>) => void background.push(work) }
  const creating = { keyId: null, requestId: null, limits: null }
  try {
    await acceptJob(where, ctx, { database: openAccountDatabases(env, accountId), creating }, draft)
  } finally {
    await Promise.all(background)
  }
  return id
}

it("a job reaches an unreachable dispatcher by a message", async () => {
  const DISPATCHER = {
    getByName: () => ({ accept: () => Promise.reject(new Error("it was reset")) }),
  }
  const id = await acceptOne(envWith({ DISPATCHER }), [["-version"]])
  const row = env.DB.prepare("select accepted_at from jobs where id = ?").bind(id)
  await expect.poll(async () => await row.first("accepted_at")).toEqual(expect.any(Number))
})

it("a job that its dispatcher accepts needs no message", async () => {
  const JOBS = { send: () => Promise.reject(new Error("a message was sent")) }
  const id = await acceptOne(envWith({ JOBS }), [["-version"]])
  const row = env.DB.prepare("select accepted_at from jobs where id = ?").bind(id)
  await expect.poll(async () => await row.first("accepted_at")).toEqual(expect.any(Number))
})

it("a job that cannot be stored leaves no large values", async () => {
  const accountId = newId()
  const accepted = acceptOne(withFailingBucket(), [["x".repeat(100_000)]], accountId)
  await expect(accepted).rejects.toThrow("R2 does not answer")
  await scheduler.wait(400)
  expect((await env.MEDIA.list({ prefix: `${accountId}/` })).objects).toEqual([])
  const uploads = env.DB.prepare("select count(*) as n from uploads where account_id = ?")
  expect(await uploads.bind(accountId).first("n")).toBe(0)
})
