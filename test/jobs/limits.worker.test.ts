import { env } from "cloudflare:workers"
import { expect, it } from "vitest"
import { newId } from "../../src/platform/ids.ts"
import { beginAccountDeletion } from "../../src/accounts/deletion.ts"
import { acceptJob } from "../../src/jobs/create.ts"
import type { JobAcceptance } from "../../src/jobs/create.ts"
import type { Env } from "../../src/bindings/env.ts"
import { formatUtcDay } from "../../src/db/accounts/account-limits.ts"
import type { NewJobLimits } from "../../src/db/accounts/account-limits.ts"
import { openAccountDatabases } from "../../src/db/database.ts"
import { draftJobRow, draftTask } from "../../src/domain/job-draft.ts"
import type { JobDraft } from "../../src/domain/job-draft.ts"
import { makeJobProperties } from "../support/job-facts.ts"
import { explainStatements, makeRecordingEnv } from "../support/db/watched-database.ts"

const CALLERS = 64
const ROOMY = { waitingJobsMax: 1000, fetchesPerDay: 1000, storageBytesMax: 1000 }
const ctx = { waitUntil: (work: Promise<unknown>) => void work.catch(() => undefined) }

/** Drafts a job with this number of imports, and an upload of this size in its request. */
function draft(accountId: string, { imports = 0, uploadBytes = 0 } = {}): JobDraft {
  const id = newId()
  const facts = makeJobProperties(null)
  const job = draftJobRow(facts, { id, kind: "command", request: { output_files: {} } })
  const work = { kind: "command" as const, commands: [["x"]], outputs: [], run_seconds_max: 1 }
  const bringIn = {
    kind: "import" as const,
    url: "https://media.example/a.mp4",
    bytes_max: 1,
    run_seconds_max: 1,
    outputs: [{ key: "in", name: "a.mp4" }],
  }
  const works = [work, ...Array.from({ length: imports }, () => bringIn)]
  const file = { jobId: id, name: "a", state: "waiting" as const, createdAt: facts.now }
  const fileId = newId()
  const objectKey = `${accountId}/files/${fileId}/a`
  return {
    job,
    tasks: works.map((each) =>
      draftTask(facts, { pool: "media", jobId: id, work: each, inputs: [], blocked: true }),
    ),
    files:
      uploadBytes === 0
        ? []
        : [{ ...file, id: fileId, source: "upload", objectKey, sizeBytes: uploadBytes }],
  }
}

async function accept(
  accountId: string,
  limits: Partial<NewJobLimits> | null,
  made: JobDraft,
  where: Env = env,
): Promise<JobAcceptance> {
  const creating = {
    keyId: "a key",
    requestId: "a request",
    limits: limits && { ...ROOMY, ...limits },
  }
  return await acceptJob(
    where,
    ctx,
    { database: openAccountDatabases(where, accountId), creating },
    made,
  )
}

/** Creates the row of an account, which the limits require. */
async function makeAccount(): Promise<string> {
  const id = newId()
  await env.DB.prepare(
    "insert into accounts (id, name, plan, webhook_secret, created_at) values (?1, ?1, 'trial', '', 0)",
  )
    .bind(id)
    .run()
  return id
}

async function usageOf(accountId: string) {
  const rows = env.DB.prepare("select * from usage_days where account_id = ?").bind(accountId)
  return (await rows.all()).results
}

it.each([
  ["waiting jobs", { waitingJobsMax: 7 }, {}, 7, { limit: "waiting_jobs", asked: 1 }],
  [
    "fetches of a day",
    { fetchesPerDay: 15 },
    { imports: 2 },
    7,
    { limit: "fetches_per_day", asked: 2 },
  ],
  [
    "stored bytes",
    { storageBytesMax: 100 },
    { uploadBytes: 11 },
    9,
    { limit: "storage_bytes", asked: 11 },
  ],
])(
  "as many simultaneous jobs are accepted as the limit of %s allows",
  async (_, limits, demand, room, refusal) => {
    const accountId = await makeAccount()
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, () => accept(accountId, limits, draft(accountId, demand))),
    )
    const refused = answers.flatMap((answer) =>
      answer instanceof Object && "exceeded" in answer ? [answer.exceeded] : [],
    )
    expect(CALLERS - refused.length).toBe(room)
    const [allowed] = Object.values(limits)
    const used = room * Object.values({ one: 1, ...demand }).reduce((one, other) => one * other)
    expect(refused[0]).toEqual({ ...refusal, allowed, used })
    const jobs = env.DB.prepare("select count(*) as n from jobs where account_id = ?")
    expect(await jobs.bind(accountId).first("n")).toBe(room)
    expect(await usageOf(accountId)).toMatchObject([
      { jobs: room, key_id: "a key", fetches: "imports" in demand ? used : 0 },
    ])
  },
)

it("a job records the key and the request that created it", async () => {
  const accountId = await makeAccount()
  const made = draft(accountId)
  await accept(accountId, {}, made)
  const row = env.DB.prepare("select key_id, request_id from jobs where id = ?").bind(made.job.id)
  expect(await row.first()).toEqual({ key_id: "a key", request_id: "a request" })
})

it("a job of the service itself has no limits and is not counted", async () => {
  const accountId = await makeAccount()
  const none = { waitingJobsMax: 0, fetchesPerDay: 0, storageBytesMax: 0 }
  expect(await accept(accountId, none, draft(accountId))).toHaveProperty("exceeded")
  expect(await accept(accountId, null, draft(accountId))).toHaveProperty("jobId")
  expect(await usageOf(accountId)).toEqual([])
})

it("imports of another day do not count", async () => {
  const accountId = await makeAccount()
  const limits = { fetchesPerDay: 1 }
  expect(await accept(accountId, limits, draft(accountId, { imports: 1 }))).toHaveProperty("jobId")
  const refused = await accept(accountId, limits, draft(accountId, { imports: 1 }))
  expect(refused).toMatchObject({ exceeded: { limit: "fetches_per_day", used: 1 } })
  expect(await accept(accountId, limits, draft(accountId))).toHaveProperty("jobId")
  await env.DB.prepare("update usage_days set day = ? where account_id = ?")
    .bind(formatUtcDay(Date.now() - 24 * 3_600_000), accountId)
    .run()
  expect(await accept(accountId, limits, draft(accountId, { imports: 1 }))).toHaveProperty("jobId")
})

it("a full store refuses jobs without bytes, and a store that is just filled does not", async () => {
  const accountId = await makeAccount()
  const limits = { storageBytesMax: 10 }
  expect(await accept(accountId, limits, draft(accountId, { uploadBytes: 10 }))).toHaveProperty(
    "jobId",
  )
  const refused = await accept(accountId, limits, draft(accountId))
  expect(refused).toMatchObject({ exceeded: { limit: "storage_bytes", used: 10, asked: 0 } })
})

/** Returns an environment whose database refuses the first batches as if a limit were exceeded. */
function refusing(times: number): { env: Env; batches: () => number } {
  let batches = 0
  const DB = new Proxy(env.DB, {
    get(database, name) {
      if (name !== "batch") return database[name === "prepare" ? "prepare" : "exec"].bind(database)
      return async (statements: D1PreparedStatement[]) => {
        batches += 1
        if (batches > times) return await database.batch(statements)
        throw new Error("D1_ERROR: NOT NULL constraint failed: jobs.account_id: SQLITE_CONSTRAINT")
      }
    },
  })
  return { env: { ...env, DB }, batches: () => batches }
}

it("a refused job is tried again if no limit is exceeded any more", async () => {
  const accountId = await makeAccount()
  const twice = refusing(2)
  expect(await accept(accountId, {}, draft(accountId), twice.env)).toHaveProperty("jobId")
  expect(twice.batches()).toBe(3)
})

it("the nearest limit refuses a job after the last try", async () => {
  const accountId = await makeAccount()
  const always = refusing(Infinity)
  const made = draft(accountId, { uploadBytes: 900 })
  expect(await accept(accountId, {}, made, always.env)).toEqual({
    exceeded: { limit: "storage_bytes", allowed: 1000, used: 0, asked: 900 },
  })
  expect(always.batches()).toBe(5)
})

it("a job of an account that is deleted meanwhile is not created", async () => {
  const accountId = await makeAccount()
  await beginAccountDeletion(env, accountId)
  await expect(accept(accountId, {}, draft(accountId, { imports: 1 }))).rejects.toThrow(
    "jobs.account_id",
  )
  const jobs = env.DB.prepare("select count(*) as n from jobs where account_id = ?")
  expect(await jobs.bind(accountId).first("n")).toBe(0)
  expect(await usageOf(accountId)).toEqual([])
})

it("a job is created in one batch, and its admission reads only indexes", async () => {
  const accountId = await makeAccount()
  const { watched, asked } = makeRecordingEnv()
  await accept(accountId, {}, draft(accountId, { imports: 1 }), watched)
  expect(asked.filter(({ sql }) => sql.startsWith("select"))).toEqual([])
  const plans = await explainStatements(
    asked.filter(({ sql }) => sql.startsWith('insert into "jobs"')),
  )
  const steps = plans[0]?.steps.join("\n") ?? ""
  expect(steps).toContain("COVERING INDEX jobs_open (account_id=? AND state=?)")
  expect(steps).toContain("sqlite_autoindex_usage_days_1 (account_id=? AND day=?)")
  expect(steps).toContain("sqlite_autoindex_account_storage_1 (account_id=?)")
  expect(steps).not.toMatch(/\bSCAN (?!CONSTANT)/)
})
