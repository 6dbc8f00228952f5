import { and, desc, eq, isNull, lt, or, sql } from "drizzle-orm"
import type { AccountDatabase, Database } from "../database.ts"
import { uploadLinks } from "../schema/uploads.ts"
import type { UploadLink } from "../schema/uploads.ts"

/** Maximum number of upload links of an account. */
export const UPLOAD_LINKS_MAX = 1000

/** Stores an upload link. Returns false if the account has reached its maximum number of links. */
export async function insertUploadLink(
  { accountId, sql: database }: AccountDatabase,
  link: Omit<UploadLink, "accountId" | "fileId">,
): Promise<boolean> {
  const { id, keyId, secretHash, sizeBytesMax, types, origins, fields, expiresAt, createdAt } = link
  const counted = sql`select count(*) from ${uploadLinks} where account_id = ${accountId}`
  const rows = await database
    .insert(uploadLinks)
    .select(
      sql`select ${id}, ${accountId}, ${keyId}, ${secretHash}, ${sizeBytesMax}, ${JSON.stringify(types)}, ${JSON.stringify(origins)}, ${JSON.stringify(fields)}, null, ${expiresAt}, ${createdAt} where (${counted}) < ${UPLOAD_LINKS_MAX}`,
    )
    .returning({ id: uploadLinks.id })
  return rows.length === 1
}

/** Returns the upload link with a secret, by the secret's hash; null if no link has the secret. */
export async function findUploadLinkByHash(
  database: Database,
  secretHash: string,
): Promise<UploadLink | null> {
  const [row] = await database
    .select()
    .from(uploadLinks)
    .where(eq(uploadLinks.secretHash, secretHash))
  return row ?? null
}

export async function findUploadLink(
  database: AccountDatabase,
  id: string,
): Promise<UploadLink | null> {
  const [row] = await database.sql.select().from(uploadLinks).where(isIt(database, id))
  return row ?? null
}

/** Returns the upload links of an account, newest first. */
export async function listUploadLinks({
  accountId,
  sql: database,
}: AccountDatabase): Promise<UploadLink[]> {
  const isTheirs = eq(uploadLinks.accountId, accountId)
  return await database.select().from(uploadLinks).where(isTheirs).orderBy(desc(uploadLinks.id))
}

/**
 * Marks an upload link as used by the file with id `fileId`. Returns false if another file has used
 * the link, or if the link no longer exists.
 */
export async function claimUploadLink(
  database: AccountDatabase,
  id: string,
  fileId: string,
): Promise<boolean> {
  const isFree = or(isNull(uploadLinks.fileId), eq(uploadLinks.fileId, fileId))
  const rows = await database.sql
    .update(uploadLinks)
    .set({ fileId })
    .where(and(isIt(database, id), isFree))
    .returning({ id: uploadLinks.id })
  return rows.length === 1
}

/** Makes an upload link usable again after the file could not be created. */
export async function releaseUploadLink(
  database: AccountDatabase,
  id: string,
  fileId: string,
): Promise<void> {
  await database.sql
    .update(uploadLinks)
    .set({ fileId: null })
    .where(and(isIt(database, id), eq(uploadLinks.fileId, fileId)))
}

/** Deletes an upload link. Returns false if the account has no such link. */
export async function deleteUploadLink(database: AccountDatabase, id: string): Promise<boolean> {
  const rows = await database.sql
    .delete(uploadLinks)
    .where(isIt(database, id))
    .returning({ id: uploadLinks.id })
  return rows.length === 1
}

/** Deletes the upload links of all accounts that expired before a time. */
export async function deleteExpiredUploadLinks(database: Database, before: number): Promise<void> {
  await database.delete(uploadLinks).where(lt(uploadLinks.expiresAt, before))
}

function isIt({ accountId }: AccountDatabase, id: string) {
  return and(eq(uploadLinks.id, id), eq(uploadLinks.accountId, accountId))
}
