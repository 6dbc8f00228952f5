import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import type { AccountDatabase, Database } from "../db/database.ts"
import { deleteObjectsBelowFolderPrefixes, groupPrefixesByFolder } from "./delete-prefixes.ts"
import {
  listDueGarbage,
  listGarbagePrefixesWithoutReaders,
  saveGarbageCollectionResult,
} from "../db/files/garbage.ts"
import { getFileKeyPrefix } from "../domain/object-keys.ts"
import type { File } from "../db/schema/files.ts"
import type { Garbage, Upload } from "../db/schema/uploads.ts"
import { listUploadsWithAnyPrefix } from "../db/files/uploads.ts"
import { removeUploadsWithBytes } from "./abandon-upload.ts"
import { repeatUntilDone } from "../platform/repeat-until-done.ts"

const HOUR_MS = 3_600_000
/**
 * Wait in milliseconds before the deletion below a prefix is repeated after a failure. Prefixes
 * without a failure are processed first.
 */
const RETRY_MS = 60_000
/**
 * Number of times that the objects below a prefix are deleted. The second time removes objects that
 * a task which was still running has stored after the first time.
 */
const DELETIONS = 2
/**
 * Maximum number of prefixes whose objects are deleted in one round of the sweep, and after a
 * caller deleted a file or job.
 */
const PREFIXES_MAX = { sweep: 1000, deletion: 100 }
/**
 * Number of account folders that are processed concurrently. A Worker has at most six connections
 * at a time.
 */
const FOLDERS_AT_ONCE = 4
/** Number of failed deletions after which the other prefixes of an account folder are postponed. */
const FAILURES_MAX = 3

/**
 * Deletes the objects below all prefixes that no longer belong to a file or job. Repeats the
 * deletion of each prefix an hour later.
 */
export async function collectGarbage(env: Env, database: Database, now: number): Promise<void> {
  await repeatUntilDone(async () => {
    return (await collectSome(env, database, now, PREFIXES_MAX.sweep)) === PREFIXES_MAX.sweep
  })
}

/**
 * Deletes the objects of files whose rows were just removed, without waiting for the sweep, because
 * download links serve objects without a read of their rows. Keeps objects that a running task
 * reads. The sweep deletes those objects, and other objects below the same prefixes.
 */
export async function deleteObjectsOfRemovedFiles(
  env: Env,
  { sql: database }: AccountDatabase,
  removed: readonly Pick<File, "objectKey" | "bundle">[],
): Promise<void> {
  const objects = removed.flatMap(({ objectKey, bundle }) => {
    return objectKey === null ? [] : [{ objectKey, prefix: getFileKeyPrefix(objectKey), bundle }]
  })
  if (objects.length === 0) return
  await runOrLogError("garbage.not_deleted_at_once", { objects: objects.length }, async () => {
    const prefixes = objects.map(({ prefix }) => prefix)
    const unread = new Set(await listGarbagePrefixesWithoutReaders(database, prefixes))
    const unreadObjects = objects.filter(({ prefix }) => unread.has(prefix))
    await env.MEDIA.delete(unreadObjects.map(({ objectKey }) => objectKey))
    const bundles = unreadObjects.flatMap(({ bundle, prefix }) => (bundle ? [prefix] : []))
    for (const [folder, own] of groupPrefixesByFolder(bundles)) {
      await deleteObjectsBelowFolderPrefixes(env.MEDIA, folder, own)
    }
  })
}

/**
 * Deletes the objects below up to 100 prefixes whose deletion is due, for example after a caller
 * deleted a file.
 */
export async function collectDueGarbage(
  env: Env,
  { sql: database }: AccountDatabase,
  now: number,
): Promise<void> {
  await collectSome(env, database, now, PREFIXES_MAX.deletion)
}

/**
 * Deletes the objects below at most `limit` prefixes whose deletion is due. Returns the number of
 * these prefixes.
 */
async function collectSome(
  env: Env,
  database: Database,
  now: number,
  limit: number,
): Promise<number> {
  const due = await listDueGarbage(database, { now, limit })
  if (due.length === 0) return 0
  const prefixes = due.map(({ prefix }) => prefix)
  const folders = groupPrefixesByFolder(prefixes)
  const uploads = await listUploadsWithAnyPrefix(database, prefixes)
  const failed = new Set<string>()
  const waiting = folders.entries()
  async function collectNext(): Promise<void> {
    for (const [folder, own] of waiting) {
      for (const prefix of await collectFolder(env, { database, uploads }, folder, own))
        failed.add(prefix)
    }
  }
  await Promise.all(Array.from({ length: FOLDERS_AT_ONCE }, collectNext))
  await saveGarbageCollectionResult(database, outcomeOf(due, failed, now))
  return due.length
}

/**
 * Deletes the objects below prefixes of one account folder. After a failure, deletes below each
 * prefix separately. Returns the prefixes that may still have objects.
 */
async function collectFolder(
  env: Env,
  { database, uploads }: { database: Database; uploads: Upload[] },
  folder: string,
  prefixes: string[],
): Promise<string[]> {
  async function collect(some: string[]): Promise<boolean> {
    return await runOrLogError("sweep.garbage_failed", { folder }, async () => {
      const own = uploads.filter(({ objectKey }) => {
        return some.some((prefix) => objectKey.startsWith(prefix))
      })
      if (!(await removeUploadsWithBytes(env, database, own)))
        throw new Error("uploads below it stay")
      await deleteObjectsBelowFolderPrefixes(env.MEDIA, folder, some)
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
