import { and, asc, eq, lt, sql } from "drizzle-orm"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { jobs, metadataLookups } from "./schema/jobs.ts"
import type { Job } from "./schema/jobs.ts"

/** A lookup to come; `replaces` is the job of the one of the same URL that is known, if any is. */
export type NewLookup = { urlHash: string; replaces: string | null }

/** The last lookup of a URL by its hash, with its job unless that is gone; null where none is known. */
export async function findLookup(
  { accountId, sql: database }: AccountDatabase,
  urlHash: string,
): Promise<{ jobId: string; job: Job | null } | null> {
  const [found] = await database
    .select({ jobId: metadataLookups.jobId, job: jobs })
    .from(metadataLookups)
    .leftJoin(jobs, eq(jobs.id, metadataLookups.jobId))
    .where(and(eq(metadataLookups.accountId, accountId), eq(metadataLookups.urlHash, urlHash)))
    .limit(1)
  return found ?? null
}

/**
 * Statements that make a job the last lookup of a URL; the batch fails where another one was made
 * since `replaces` was read. The row of the one that is replaced stays for the sweep, under the id of
 * its job, which is the hash of no URL.
 */
export function insertLookup(
  { accountId, sql: database }: AccountDatabase,
  { urlHash, replaces }: NewLookup,
  { jobId, createdAt }: { jobId: string; createdAt: number },
): Statement[] {
  const replaced = database
    .update(metadataLookups)
    .set({ urlHash: sql`${metadataLookups.jobId}` })
    .where(
      and(
        eq(metadataLookups.accountId, accountId),
        eq(metadataLookups.urlHash, urlHash),
        eq(metadataLookups.jobId, replaces ?? ""),
      ),
    )
  return [
    ...(replaces === null ? [] : [replaced]),
    database.insert(metadataLookups).values({ accountId, urlHash, jobId, createdAt }),
  ]
}

/** Lookups of all accounts made before a moment, oldest first; `state` is null where the job is gone. */
export async function listOldLookups(database: Database, before: number, limit: number) {
  return await database
    .select({
      accountId: metadataLookups.accountId,
      jobId: metadataLookups.jobId,
      state: jobs.state,
    })
    .from(metadataLookups)
    .leftJoin(jobs, eq(jobs.id, metadataLookups.jobId))
    .where(lt(metadataLookups.createdAt, before))
    .orderBy(asc(metadataLookups.createdAt))
    .limit(limit)
}
