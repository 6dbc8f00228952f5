import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { settleTask } from "../../src/jobs/settle/settle.ts"
import type { TerminalReport } from "../../src/jobs/settle/transitions.ts"
import { readUsedStorageBytes } from "../../src/db/accounts/account-limits.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { removeFetchedMedia } from "../../src/db/files/fetched-media.ts"
import { deleteFinishedJobs } from "../../src/db/jobs/job-removal.ts"
import { startCommandTask } from "../support/media/bundle.ts"
import { makeFetchResult, finishFetch } from "../support/media/fetched.ts"
import { makeLimitedCaller } from "../support/accounts/limited-caller.ts"
import { makeRandom } from "../support/random.ts"

// Triggers on files keep the stored bytes of an account. For any order and concurrency of changes,
// the number is the sum of the file sizes.

const STEPS = 50
const STORAGE_BYTES_MAX = 600
const { draw, whole, pick } = makeRandom(20_261_122)

const caller = await makeLimitedCaller("stores and deletes", {
  storageBytesMax: STORAGE_BYTES_MAX,
})
const database = openAccountDatabases(env, caller.accountId)
const seen = new Map<string, number>()

/** Runs a request, and notes its status. */
async function note(name: string, answered: Promise<Response>): Promise<void> {
  const { status } = await answered
  seen.set(`${name} ${status}`, (seen.get(`${name} ${status}`) ?? 0) + 1)
  expect(status).toBeLessThan(500)
}

async function send(): Promise<void> {
  const body = new FormData()
  body.append("file", new File(["x".repeat(1 + whole(90))], "a.txt"))
  await note("upload", caller.call("/files", { method: "POST", body }))
}

const moment = { boot: "boot", at: new Date().toISOString(), processing_seconds: 1 }
const failure = { code: "server_error" as const, message: "It failed.", lines: [] }

function endOf(keys: string[]): TerminalReport {
  if (draw() < 0.3) return { ...moment, kind: "failed", blame: "caller", failure }
  const outputs = keys.map((key) => {
    return { key, size_bytes: whole(50), content_type: "video/mp4" }
  })
  return { ...moment, kind: "finished", result: { kind: "command", outputs } }
}

/** Runs a command with some outputs, whose end is reported once, twice or not at all. */
async function runCommand(): Promise<void> {
  const names = { out_1: "a.mp4", ...(draw() < 0.5 && { out_2: "b.mp4" }) }
  const run = await startCommandTask(caller, names)
  const report = endOf(Object.keys(names))
  if (draw() < 0.8) await settleTask(env, run, report)
  if (draw() < 0.4) await settleTask(env, run, report)
}

async function fetchMedia(): Promise<void> {
  const answer = await caller.post("/fetch", { url: "https://media.example/a" })
  if (answer.status !== 202) return
  const { fetch_id } = await answer.json<{ fetch_id: string }>()
  await finishFetch(caller, fetch_id, makeFetchResult(draw() < 0.5 ? ["en"] : []))
}

async function idsOf(path: string): Promise<string[]> {
  const rows = await (await caller.call(`${path}?limit=100`)).json<{ id: string }[]>()
  return rows.map(({ id }) => id)
}

async function remove(path: string): Promise<void> {
  const id = pick(await idsOf(path))
  if (id !== undefined) {
    await note(`delete ${path}`, caller.call(`${path}/${id}`, { method: "DELETE" }))
  }
}

async function retry(): Promise<void> {
  const id = pick(await idsOf("/jobs"))
  if (id === undefined) return
  if (draw() < 0.6) await caller.post(`/jobs/${id}/cancel`, {})
  await note("retry", caller.post(`/jobs/${id}/retry`, {}))
}

async function passTime(): Promise<void> {
  const now = Date.now() + 1
  if (draw() < 0.6) await removeFetchedMedia(database.sql, { before: now, now, limit: 2 })
  else await deleteFinishedJobs(database.sql, now)
}

async function act(): Promise<void> {
  const chance = draw()
  if (chance < 0.35) await send()
  else if (chance < 0.55) await runCommand()
  else if (chance < 0.65) await fetchMedia()
  else if (chance < 0.78) await remove("/files")
  else if (chance < 0.86) await remove("/jobs")
  else if (chance < 0.96) await retry()
  else await passTime()
}

async function sumOfFiles(): Promise<number> {
  const sum = env.DB.prepare(
    "select coalesce(sum(size_bytes), 0) as n from files where account_id = ? and object_key is not null",
  ).bind(caller.accountId)
  return (await sum.first<number>("n")) ?? 0
}

it("the stored bytes are the sum of the files, for any order of changes", async () => {
  const sums: number[] = []
  for (let step = 0; step < STEPS; step += 1) {
    await Promise.all(Array.from({ length: 1 + whole(3) }, act))
    const sum = await sumOfFiles()
    expect(await readUsedStorageBytes(database)).toBe(sum)
    sums.push(sum)
  }
  // The sum rose, fell and met its limit, so that the model covers all cases.
  expect(sums.filter((sum, at) => sum < (sums[at - 1] ?? 0)).length).toBeGreaterThan(5)
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining(["upload 201", "upload 403", "retry 202", "delete /files 200"]),
  )
  await deleteFinishedJobs(database.sql, Date.now() + 1)
  for (const path of ["/files", "/jobs"]) {
    const ids = await idsOf(path)
    await Promise.all(ids.map((id) => caller.call(`${path}/${id}`, { method: "DELETE" })))
  }
  await expect.poll(sumOfFiles).toBe(0)
  expect(await readUsedStorageBytes(database)).toBe(0)
})
