import { and, desc, eq, getTableColumns, isNotNull, lt, sql } from "drizzle-orm"
import { member } from "../contract/bundle.ts"
import type { Member } from "../contract/bundle.ts"
import { runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import type { Page } from "./jobs.ts"
import { prefixOf } from "./objects.ts"
import { files, garbage, jobs } from "./schema.ts"
import type { File, Job } from "./schema.ts"

/** A file and the job that took it in; a file that was an output has none of its own. */
export type FileWithJob = { file: File; job: Job | null }

/** Members of a bundle above this many characters are left out of lists. */
const LISTED_MEMBERS_LENGTH_MAX = 64 * 1024

const columns = getTableColumns(files)
const memberless = sql`json_remove(${files.bundle}, '$.members')`
const withoutMembers = { ...columns, bundle: memberless.mapWith(files.bundle) }
const withFewMembers = {
  ...columns,
  bundle:
    sql`case when length(${files.bundle}) > ${LISTED_MEMBERS_LENGTH_MAX} then ${memberless} else ${files.bundle} end`.mapWith(
      files.bundle,
    ),
}

/** A stored file of the account; a file still to come is none. */
export async function findFile(
  database: Database,
  accountId: string,
  id: string,
): Promise<FileWithJob | null> {
  const [found] = await database
    .select({ file: files, job: jobs })
    .from(files)
    .leftJoin(jobs, eq(jobs.id, files.id))
    .where(and(eq(files.id, id), eq(files.accountId, accountId), isNotNull(files.objectKey)))
    .limit(1)
  return found ?? null
}

/**
 * A stored file of the account and the first of its members that has one of the names; of the
 * members no other is read, as players ask for one after another.
 */
export async function findStored(
  database: Database,
  stored: { accountId: string; fileId: string },
  names: readonly string[],
): Promise<{ file: File; member: Member | null } | null> {
  const wanted = sql`select value ->> 'name' as name, value from json_each(${files.bundle}, '$.members')`
  const given = sql`select key, value from json_each(${JSON.stringify(names)})`
  const [found] = await database
    .select({
      file: withoutMembers,
      member:
        sql<Member | null>`(select m.value from (${wanted}) m join (${given}) n on n.value = m.name order by n.key limit 1)`.mapWith(
          (text: string) => member.parse(JSON.parse(text)),
        ),
    })
    .from(files)
    .where(
      and(
        eq(files.id, stored.fileId),
        eq(files.accountId, stored.accountId),
        isNotNull(files.objectKey),
      ),
    )
    .limit(1)
  return found ?? null
}

/** Those of the named files that are stored and the account's, without members; others are left out. */
export async function findFiles(
  database: Database,
  accountId: string,
  ids: string[],
): Promise<File[]> {
  return await database
    .select(withoutMembers)
    .from(files)
    .where(
      and(
        sql`${files.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        eq(files.accountId, accountId),
        isNotNull(files.objectKey),
      ),
    )
}

/** Stored files, newest first; those of many members come without them. */
export async function listFiles(
  database: Database,
  accountId: string,
  page: Page,
): Promise<FileWithJob[]> {
  return await database
    .select({ file: withFewMembers, job: jobs })
    .from(files)
    .leftJoin(jobs, eq(jobs.id, files.id))
    .where(
      and(
        eq(files.accountId, accountId),
        isNotNull(files.objectKey),
        page.before ? lt(files.id, page.before) : undefined,
      ),
    )
    .orderBy(desc(files.id))
    .limit(page.limit)
    .offset(page.offset)
}

/**
 * Removes a file without a job of its own, whose objects become garbage. A task that reads it
 * keeps the bytes until it is done.
 */
export async function removeFile(database: Database, file: File, now: number): Promise<void> {
  const left = file.objectKey === null ? [] : [prefixOf(file.objectKey)]
  await runBatch(database, [
    ...left.map((prefix) =>
      database
        .insert(garbage)
        .values({ prefix, fileId: file.id, dueAt: now })
        .onConflictDoNothing(),
    ),
    database.delete(files).where(eq(files.id, file.id)),
  ])
}
