import { and, asc, eq, lt, sql } from "drizzle-orm"
import type { AccountDatabase, Database, Statement } from "../database.ts"
import { jobs, metadataLookups } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import type { NewMetadataLookup } from "../../domain/job-draft.ts"

/**
 * Returns the last metadata lookup of a URL, by the URL's hash, and the job of the lookup. `job` is
 * null if the job has been removed. Returns null if the URL has no lookup.
 */
export async function findMetadataLookup(
  { accountId, sql: database }: AccountDatabase,
  urlHash: string,
): Promise<{ jobId: string; job: Job | null } | null> {
  const [row] = await database
    .select({ jobId: metadataLookups.jobId, job: jobs })
    .from(metadataLookups)
    .leftJoin(jobs, eq(jobs.id, metadataLookups.jobId))
    .where(and(eq(metadataLookups.accountId, accountId), eq(metadataLookups.urlHash, urlHash)))
    .limit(1)
  return row ?? null
}

/**
 * Returns statements that make a job the last lookup of a URL. `replaces` is the job of the last
 * lookup so far; the batch fails if another job has become the last lookup meanwhile. URL hashes
 * are unique, so the replaced row gets its own job id as its hash. The sweep removes that row with
 * its job.
 */
export function insertMetadataLookupStatements(
  { accountId, sql: database }: AccountDatabase,
  { urlHash, replaces }: NewMetadataLookup,
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

/**
 * Returns the metadata lookups of all accounts that were created before a time, oldest first.
 * `state` is null if the job has been removed.
 */
export async function listOldMetadataLookups(database: Database, before: number, limit: number) {
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
