import { globSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const BUSY_MS_MAX = 5000

/** Uploads left in a service's state: rows of D1 and multipart uploads of R2. */
export function countUploads(stateDir: string): number {
  return (
    count(stateDir, "d1", "uploads") +
    count(stateDir, "r2", "_mf_multipart_uploads where state = 0")
  )
}

/** Parts of uploads that later runs may go on from. */
export function countParts(stateDir: string): number {
  return count(stateDir, "d1", "upload_parts")
}

/** Tasks of which the runner reported that a run was interrupted. */
export function countInterruptedTasks(stateDir: string): number {
  return count(stateDir, "d1", "tasks where interruptions = 1")
}

/** Objects that a service's R2 has. */
export function countObjects(stateDir: string): number {
  return count(stateDir, "r2", "_mf_objects")
}

/** Rows of a table that name an account. */
export function countOfAccount(
  stateDir: string,
  table: string,
  accountId: string,
  condition = "true",
): number {
  return count(stateDir, "d1", `${table} where account_id = '${accountId}' and ${condition}`)
}

function count(stateDir: string, store: string, rows: string): number {
  const paths = globSync(join(stateDir, "v3", store, "**", "*.sqlite"))
  const [path] = paths.filter((each) => !each.endsWith("metadata.sqlite"))
  // R2 makes its file with its first object.
  if (path === undefined) return 0
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    return Number(database.prepare(`select count(*) as count from ${rows}`).get()?.["count"])
  } finally {
    database.close()
  }
}
