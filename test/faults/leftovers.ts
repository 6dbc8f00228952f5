import { globSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import pWaitFor from "p-wait-for"
import type { Bed } from "./bed.ts"
import { findTools } from "./processes.ts"
import { listUsedWorkspaces } from "../support/runner/workspaces.ts"

/** A delivery whose try died waits for the end of its claim, and then for a sweep. */
const CLEAN_MS_MAX = 100_000
const POLL_MS = 250
const BUSY_MS_MAX = 5000

/** Rows of D1 that must be gone after the end: their description and query. */
const OPEN_ROWS: [string, string][] = [
  ["open job", "select id from jobs where state in ('waiting', 'running')"],
  ["open task", "select id from tasks where state in ('waiting', 'running')"],
  ["open file", "select id from files where state in ('waiting', 'running')"],
  ["waiting delivery", "select id from deliveries where state = 'waiting'"],
  ["upload", "select id from uploads"],
  ["part of an upload", "select upload_id as id from upload_parts"],
  ["secret", "select task_id as id from task_secrets"],
  [
    "job that still waits for a job",
    "select id from jobs where json_array_length(waiting_for) > 0",
  ],
  ["open batch", "select id from batches where open_jobs <> 0 or completed_at is null"],
  [
    "wrong count of failed jobs in batch",
    "select id from batches where failed_jobs <> (select count(*) from jobs where batch_id = batches.id and state <> 'succeeded')",
  ],
  [
    "input of no task",
    "select task_id as id from task_inputs where task_id not in (select id from tasks)",
  ],
  [
    "dependency of no job",
    "select job_id as id from job_dependencies where job_id not in (select id from jobs)",
  ],
  ["garbage left by the sweep", "select prefix as id from garbage where deletions = 0"],
]

/** Waits until nothing of the jobs is left but what is theirs; what is there too long, in words. */
export async function findLeftovers(bed: Bed, timeoutMs = CLEAN_MS_MAX): Promise<string[]> {
  const timeout = { milliseconds: timeoutMs, fallback: () => undefined }
  let left: string[] = []
  function isClean(): boolean {
    left = look(bed)
    return left.length === 0
  }
  await pWaitFor(isClean, { interval: POLL_MS, timeout })
  return left
}

function look(bed: Bed): string[] {
  return [
    ...findTools(bed.pid, bed.workDir).map((pid) => `process ${pid}`),
    ...listUsedWorkspaces(bed.workDir).map((name) => `workspace ${name}`),
    ...leftInDatabase(bed),
    ...leftInBucket(bed),
    ...leftInObjects(bed),
  ]
}

function leftInDatabase(bed: Bed): string[] {
  return OPEN_ROWS.flatMap(([name, query]) =>
    read(databasePath(bed), query).map((row) => `${name} ${String(row["id"])}`),
  )
}

/** Objects that belong to no file, and multipart uploads that nobody will end. */
function leftInBucket(bed: Bed): string[] {
  const owned = new Set(
    read(
      databasePath(bed),
      `select object_key as name from files union select probe_object_key from files
       union select bundle_object_key from files
       union select request_object_key from jobs union select result_object_key from jobs
       union select work_object_key from tasks union select result_object_key from tasks
       union select body_object_key from deliveries`,
    ).map((row) => row["name"]),
  )
  const bundles = read(
    databasePath(bed),
    "select rtrim(object_key, 'media') || 'members/' as name from files where bundle is not null",
  ).map((row) => String(row["name"]))
  const [bucket] = storePaths(bed, "r2")
  if (bucket === undefined) return []
  const objects = read(bucket, "select key as name from _mf_objects")
  const uploads = read(bucket, "select key as name from _mf_multipart_uploads where state = 0")
  return [
    ...objects
      .filter((row) => !owned.has(row["name"]))
      .map((row) => String(row["name"]))
      // An object lists the members of a bundle, which lie below one prefix.
      .filter((name) => !bundles.some((prefix) => name.startsWith(prefix)))
      .map((name) => `object ${name}`),
    ...uploads.map((row) => `multipart upload of ${String(row["name"])}`),
  ]
}

/** Rows that dispatchers and the pool hold. */
function leftInObjects(bed: Bed): string[] {
  const queued = storePaths(bed, "do/*Dispatcher").flatMap((path) =>
    read(path, "select id from queued_tasks").map((row) => `queued task ${String(row["id"])}`),
  )
  const allocated = storePaths(bed, "do/*Pool").flatMap((path) =>
    read(path, "select allocation as id from slots where is_allocated = 1").map(
      (row) => `allocation ${String(row["id"])}`,
    ),
  )
  return [...queued, ...allocated]
}

/** Path of the file that holds D1's only database. */
export function databasePath(bed: Bed): string {
  const [path] = storePaths(bed, "d1")
  if (path === undefined) throw new Error("there is no D1 database")
  return path
}

function storePaths({ stateDir }: Bed, store: string): string[] {
  const paths = globSync(join(stateDir, "v3", store, "**", "*.sqlite"))
  return paths.filter((path) => !path.endsWith("metadata.sqlite"))
}

function read(path: string, query: string) {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}
