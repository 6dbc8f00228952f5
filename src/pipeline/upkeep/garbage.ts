import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import type { AccountDatabase, Database } from "../../storage/database.ts"
import { deletePrefixes, groupByFolder } from "../../storage/delete-prefixes.ts"
import { listDueGarbage, listUnreadPrefixes, noteCollected } from "../../storage/garbage.ts"
import { prefixOf } from "../../storage/objects.ts"
import type { File } from "../../storage/schema/files.ts"
import type { Garbage, Upload } from "../../storage/schema/uploads.ts"
import { listUploadsBelowAny } from "../../storage/uploads.ts"
import { removeUploads } from "../uploads/abandon.ts"
import { untilDone } from "./until-done.ts"

const HOUR_MS = 3_600_000
/** A prefix that could not be deleted is tried again after those that wait behind it. */
const RETRY_MS = 60_000
/** Times that the objects below a prefix are deleted. */
const DELETIONS = 2
/** Prefixes of one round of the sweep, and of what a deletion cleans up at once. */
const PREFIXES_MAX = { sweep: 1000, deletion: 100 }
/** Folders of accounts whose objects are deleted at a time; a Worker has six connections. */
const FOLDERS_AT_ONCE = 4
/** Of prefixes of a folder; the others are left for later then. */
const FAILURES_MAX = 3

/** Deletes all objects below prefixes without an owner; each is listed again an hour later. */
export async function collectGarbage(env: Env, database: Database, now: number): Promise<void> {
  await untilDone(async () => {
    return (await collectSome(env, database, now, PREFIXES_MAX.sweep)) === PREFIXES_MAX.sweep
  })
}

/**
 * Deletes the objects of files that have just been removed, since links open them without a look at
 * their rows; those that a running task reads wait for the sweep, as does what lies beside them.
 */
export async function deleteAtOnce(
  env: Env,
  { sql: database }: AccountDatabase,
  removed: readonly Pick<File, "objectKey" | "bundle">[],
): Promise<void> {
  const objects = removed.flatMap(({ objectKey, bundle }) => {
    return objectKey === null ? [] : [{ objectKey, prefix: prefixOf(objectKey), bundle }]
  })
  if (objects.length === 0) return
  await doOrLog("garbage.not_deleted_at_once", { objects: objects.length }, async () => {
    const prefixes = objects.map(({ prefix }) => prefix)
    const unread = new Set(await listUnreadPrefixes(database, prefixes))
    const gone = objects.filter(({ prefix }) => unread.has(prefix))
    await env.MEDIA.delete(gone.map(({ objectKey }) => objectKey))
    const bundles = gone.flatMap(({ bundle, prefix }) => (bundle ? [prefix] : []))
    for (const [folder, own] of groupByFolder(bundles)) {
      await deletePrefixes(env.MEDIA, folder, own)
    }
  })
}

/** Deletes some of these objects at once, as after a deletion that somebody asked for. */
export async function collectSomeGarbage(
  env: Env,
  { sql: database }: AccountDatabase,
  now: number,
): Promise<void> {
  await collectSome(env, database, now, PREFIXES_MAX.deletion)
}

/** Deletes the objects of some prefixes that are due; how many prefixes these were. */
async function collectSome(
  env: Env,
  database: Database,
  now: number,
  limit: number,
): Promise<number> {
  const due = await listDueGarbage(database, { now, aheadMsMax: HOUR_MS, limit })
  if (due.length === 0) return 0
  const prefixes = due.map(({ prefix }) => prefix)
  const folders = groupByFolder(prefixes)
  const uploads = await listUploadsBelowAny(database, prefixes)
  const failed = new Set<string>()
  const waiting = folders.entries()
  async function collectNext(): Promise<void> {
    for (const [folder, own] of waiting) {
      for (const prefix of await collectFolder(env, { database, uploads }, folder, own))
        failed.add(prefix)
    }
  }
  await Promise.all(Array.from({ length: FOLDERS_AT_ONCE }, collectNext))
  await noteCollected(database, outcomeOf(due, failed, now))
  return due.length
}

/**
 * Deletes what lies below prefixes of a folder; where that fails, below each of them alone. Answers
 * those of which something may be left.
 */
async function collectFolder(
  env: Env,
  { database, uploads }: { database: Database; uploads: Upload[] },
  folder: string,
  prefixes: string[],
): Promise<string[]> {
  async function collect(some: string[]): Promise<boolean> {
    return await doOrLog("sweep.garbage_failed", { folder }, async () => {
      const own = uploads.filter(({ objectKey }) => {
        return some.some((prefix) => objectKey.startsWith(prefix))
      })
      if (!(await removeUploads(env, database, own))) throw new Error("uploads below it stay")
      await deletePrefixes(env.MEDIA, folder, some)
    })
  }
  if (await collect(prefixes)) return []
  const failed: string[] = []
  for (const [index, prefix] of prefixes.entries()) {
    if (failed.length === FAILURES_MAX) return [...failed, ...prefixes.slice(index)]
    if (!(await collect([prefix]))) failed.push(prefix)
  }
  return failed
}

function outcomeOf(due: Garbage[], failed: ReadonlySet<string>, now: number) {
  const collected = due.filter(({ prefix }) => !failed.has(prefix))
  const [done, again] = [true, false].map((isLast) =>
    collected.flatMap(({ prefix, deletions }) =>
      deletions + 1 >= DELETIONS === isLast ? [prefix] : [],
    ),
  )
  return {
    done: done ?? [],
    again: { prefixes: again ?? [], dueAt: now + HOUR_MS },
    failed: { prefixes: [...failed], dueAt: now + RETRY_MS },
  }
}
