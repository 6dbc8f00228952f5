import { env } from "cloudflare:workers"

/**
 * Numbers of jobs to insert for an account. The newest `waiting` jobs wait, and the oldest `failed`
 * jobs have failed.
 */
export type InsertedJobCounts = { accountId: string; jobs: number; waiting: number; failed: number }

const JOB = id("000")
const FILE = id("001")
const TASK = id("002")
const DELIVERY = id("003")

/**
 * Inserts jobs of one account directly into D1, each with a task, an input, a file and a webhook
 * delivery.
 */
export async function insertManyJobs({
  accountId,
  jobs,
  waiting,
  failed,
}: InsertedJobCounts): Promise<void> {
  const now = Date.now()
  const isOpen = `i > ${jobs - waiting}`
  const state = `case when ${isOpen} then 'waiting' when i <= ${failed} then 'failed' else 'succeeded' end`
  const endedAt = `case when ${isOpen} then null else ${now} end`
  await insert("jobs", jobs, {
    id: JOB,
    account_id: `'${accountId}'`,
    kind: "'command'",
    state,
    version: "3",
    priority: "50",
    request: `'{"ffmpeg_command":"ffmpeg -i {{in_1}} {{out_1}}"}'`,
    origin: "'https://lathe.test'",
    created_at: String(now),
    accepted_at: String(now),
    completed_at: endedAt,
  })
  await insert("tasks", jobs, {
    id: TASK,
    job_id: JOB,
    account_id: `'${accountId}'`,
    state,
    priority: "50",
    pool: "'media'",
    work: `'{"kind":"command","outputs":[]}'`,
    created_at: String(now),
    completed_at: endedAt,
  })
  await insert("task_inputs", jobs, { task_id: TASK, key: "'in_1'", file_id: FILE })
  await insert("files", jobs, {
    id: FILE,
    account_id: `'${accountId}'`,
    job_id: JOB,
    output_key: "'out_1'",
    name: "'out.mp4'",
    source: "'output'",
    state,
    object_key: `case when ${isOpen} then null else '${accountId}/files/' || i || '/out.mp4' end`,
    size_bytes: "1",
    created_at: String(now),
    completed_at: endedAt,
  })
  await insert("deliveries", jobs - waiting, {
    id: DELIVERY,
    account_id: `'${accountId}'`,
    job_id: JOB,
    type: "'command.completed'",
    url: "'https://receiver.test/hook'",
    body: "'{}'",
    state: `case when i <= ${failed} then 'failed' else 'delivered' end`,
    tries: "1",
    next_try_at: String(now),
    created_at: String(now),
    completed_at: String(now),
  })
  await insert("delivery_tries", jobs - waiting, {
    delivery_id: DELIVERY,
    number: "1",
    started_at: String(now),
    duration_ms: "5",
    status: "200",
  })
}

/**
 * Returns the SQL of an id that increases with the row number, as ids of jobs increase with time.
 */
function id(part: string): string {
  return `printf('01900000-0000-7${part}-8000-%012x', i)`
}

async function insert(table: string, rows: number, values: Record<string, string>): Promise<void> {
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})`
  const columns = Object.keys(values).join(", ")
  const made = Object.values(values).join(", ")
  await env.DB.prepare(`insert into ${table} (${columns}) ${numbers} select ${made} from n`).run()
}
