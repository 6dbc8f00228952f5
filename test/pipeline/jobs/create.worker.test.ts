import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import type { Env } from "../../../src/env.ts"
import { newId } from "../../../src/ids.ts"
import { acceptJob } from "../../../src/pipeline/jobs/create.ts"
import { databaseOf } from "../../../src/storage/database.ts"
import { draftJob, draftTask } from "../../../src/storage/job-drafts.ts"
import { jobFacts } from "../../support/job-facts.ts"

/** A bucket that is slow with the first object that is put, and refuses the second. */
function withFailingBucket(): Env {
  let puts = 0
  async function put(key: string, text: string): Promise<void> {
    puts += 1
    if (puts > 1) throw new Error("R2 does not answer")
    await scheduler.wait(200)
    await env.MEDIA.put(key, text)
  }
  const MEDIA = { put, delete: async (key: string) => await env.MEDIA.delete(key) }
  const faked: object = { ...env, MEDIA }
  if (!isEnv(faked)) throw new Error("no environment")
  return faked
}

function isEnv(made: object): made is Env {
  return "MEDIA" in made && "DB" in made
}

it("a job that cannot be stored leaves nothing of its large values", async () => {
  const [accountId, id] = [newId(), newId()]
  const facts = jobFacts(null)
  const commands = [["x".repeat(100_000)]]
  const work = { kind: "command" as const, commands, outputs: [], run_seconds_max: 1 }
  const draft = {
    job: draftJob(facts, { id, kind: "command", request: { commands, output_files: {} } }),
    tasks: [draftTask(facts, { pool: "media", jobId: id, work, inputs: [], blocked: false })],
    files: [],
  }
  const background: Promise<unknown>[] = []
  const ctx = { waitUntil: (work: Promise<unknown>) => void background.push(work) }
  const database = databaseOf(env, accountId)
  const creating = { keyId: null, requestId: null, limits: null }
  const accepted = acceptJob(withFailingBucket(), ctx, { database, creating }, draft)
  await expect(accepted).rejects.toThrow("R2 does not answer")
  await Promise.all(background)
  await scheduler.wait(400)
  expect((await env.MEDIA.list({ prefix: `${accountId}/` })).objects).toEqual([])
  const uploads = env.DB.prepare("select count(*) as n from uploads where account_id = ?")
  expect(await uploads.bind(accountId).first("n")).toBe(0)
})
