import { env } from "cloudflare:workers"
import {
  RUNNER_BOOT_ID_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
} from "../../../src/contract/protocol.ts"
import type { BundleMember } from "../../../src/contract/bundle.ts"
import type { OutputReport } from "../../../src/contract/report.ts"
import { newId } from "../../../src/platform/ids.ts"
import { makeTaskToken } from "../../../src/runner/task-token.ts"
import type { TaskRun } from "../../../src/bindings/rpc.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { createJob } from "../db/create-job.ts"
import { draftJobRow, draftOutputFile, draftTask } from "../../../src/domain/job-draft.ts"
import { claimTask } from "../../../src/db/jobs/tasks.ts"
import { fetchWorker } from "../caller.ts"
import type { TestCaller } from "../caller.ts"

/** Boot id (id of a runner process) in the reports of these tests. */
export const TEST_BOOT_ID = "boot"

/** Running task, with functions that call the service as the task's runner does. */
export type RunningTask = TaskRun & {
  token: string
  fileIds: Record<string, string>
  call(path: string, init?: RequestInit): Promise<Response>
  /**
   * Stores a file of an output with several files, such as a playlist's segment. Returns the
   * description of the file for the runner's report.
   */
  store(key: string, name: string, content: string, type?: string): Promise<BundleMember>
  finish(outputs: OutputReport[]): Promise<Response>
}

type Input = { key: string; fileId: string }

/**
 * Creates a command job with the given outputs, and claims its task, so that the task counts as
 * running.
 */
export async function startCommandTask(
  caller: TestCaller,
  output_files: Record<string, string>,
  { webhookUrl = null, inputs = [] }: { webhookUrl?: string | null; inputs?: Input[] } = {},
): Promise<RunningTask> {
  const id = newId()
  const now = Date.now()
  const accountId = await findCallerAccountId(caller)
  const database = openAccountDatabases(env, accountId)
  const origin = "https://lathe.test"
  const facts = {
    origin,
    now,
    priority: 50,
    metadata: null,
    webhookUrl,
    webhookForm: "native" as const,
  }
  const outputs = Object.entries(output_files).map(([key, name]) => ({ key, name }))
  const files = outputs.map(({ key, name }) =>
    draftOutputFile(facts, { jobId: id, outputKey: key, name }),
  )
  const work = { kind: "command" as const, commands: [["x"]], outputs, run_seconds_max: 1 }
  const made = draftTask(facts, { pool: "media", jobId: id, work, inputs, blocked: false })
  const request = { input_files: {}, output_files }
  const job = draftJobRow(facts, { id, kind: "command", request })
  await createJob(database, { job, tasks: [made], files })
  const claim = { taskId: made.task.id, jobId: id, slot: "media-0", allocation: 1, now }
  const fence = (await claimTask(database, claim))?.task.fence ?? 0
  const run = { accountId, jobId: id, taskId: made.task.id, fence }
  const fileIds = Object.fromEntries(files.map((file) => [file.outputKey, file.id]))
  return { ...run, fileIds, ...(await ioOf(run)) }
}

/** Returns the id of the account that owns a caller's key. */
export async function findCallerAccountId({ id }: TestCaller): Promise<string> {
  const query = env.DB.prepare("select account_id from keys where id = ?").bind(id)
  return (await query.first<string>("account_id")) ?? ""
}

async function ioOf(run: TaskRun) {
  const token = await makeTaskToken(env.LATHE_SECRET ?? "", run)
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set("authorization", `Bearer ${token}`)
    headers.set(PROTOCOL_HEADER, PROTOCOL_VERSION)
    headers.set(RUNNER_BOOT_ID_HEADER, TEST_BOOT_ID)
    return await fetchWorker(`/io/${run.taskId}${path}`, { ...init, headers })
  }
  async function store(key: string, name: string, content: string, type = "text/plain") {
    const headers = { "content-type": type, "content-length": String(sizeOf(content)) }
    const path = `/outputs/${key}/members/${encodeURIComponent(name)}`
    const answer = await call(path, { method: "PUT", headers, body: content })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return { name, size_bytes: sizeOf(content), content_type: type, crc32: crcOf(content) }
  }
  async function finish(outputs: OutputReport[]): Promise<Response> {
    const at = new Date().toISOString()
    const result = { kind: "command", outputs }
    const finished = { kind: "finished", boot: TEST_BOOT_ID, at, processing_seconds: 1, result }
    return await call("/reports", { method: "POST", body: JSON.stringify(finished) })
  }
  return { token, call, store, finish }
}

/**
 * Returns the part of a runner's report about an output that is a bundle: a file with members, such
 * as a playlist and its segments.
 */
export function makeBundleReport(key: string, members: BundleMember[], type: string): OutputReport {
  const size_bytes = members.reduce((sum, member) => sum + member.size_bytes, 0)
  return { key, size_bytes, content_type: type, members }
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Computes a CRC-32 bit by bit, by its definition. */
function crcOf(text: string): number {
  let crc = -1
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}
