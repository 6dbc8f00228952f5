import { and, asc, desc, eq, getTableColumns, isNull, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { AccountDatabase, Database, Statement } from "../database.ts"
import { makeTusTailKeyPrefix } from "../../domain/object-keys.ts"
import { garbage, tusUploads, uploadParts, uploads } from "../schema/uploads.ts"
import type { TusUpload, Upload } from "../schema/uploads.ts"
import { reservedUploadBytesSql, storedFileBytesSql } from "../accounts/account-limits.ts"
import type { UploadPart } from "./upload-parts.ts"

/** Maximum number of unfinished tus uploads of an account, and of one upload link. */
export const OPEN_TUS_UPLOADS_MAX = { account: 1000, link: 4 }

/** Columns of a new row in `tus_uploads` whose values the caller sets. */
export type NewTusUpload = Pick<
  TusUpload,
  | "id"
  | "linkId"
  | "name"
  | "contentType"
  | "fields"
  | "metadataHeader"
  | "sizeBytes"
  | "partBytes"
  | "expiresAt"
  | "createdAt"
> & { objectKey: string }

/**
 * Stores a new tus upload, and a row in `uploads` for its R2 object. Returns false if the account's
 * storage limit has no room for the upload, or if the account or the upload link has too many
 * unfinished uploads.
 */
export async function insertTusUpload(
  { accountId, sql: database }: AccountDatabase,
  upload: NewTusUpload,
  storageBytesMax: number,
): Promise<boolean> {
  const { id, linkId, name, contentType, metadataHeader, sizeBytes, partBytes } = upload
  const { objectKey, expiresAt, createdAt } = upload
  const fields = JSON.stringify(upload.fields)
  const { account: ofAccount, link: ofLink } = OPEN_TUS_UPLOADS_MAX
  const conditions = [
    sql`(select count(*) from ${openUploadsOf(accountId)}) < ${ofAccount}`,
    sql`${storedFileBytesSql(accountId)} + ${reservedUploadBytesSql(accountId)} + ${sizeBytes} <= ${storageBytesMax}`,
    ...(linkId === null ? [] : [sql`${countOpenOfLink(accountId, linkId)} < ${ofLink}`]),
  ]
  const [inserted] = await database.batch([
    database
      .insert(tusUploads)
      .select(
        sql`select ${id}, ${accountId}, ${linkId}, ${name}, ${contentType}, ${fields}, ${metadataHeader}, ${sizeBytes}, ${partBytes}, 0, 0, null, 0, 0, null, ${expiresAt}, null, ${createdAt} where ${sql.join(conditions, sql` and `)}`,
      )
      .returning({ id: tusUploads.id }),
    database
      .insert(uploads)
      .select(
        sql`select id, account_id, ${objectKey}, null, null, null, created_at, null from ${tusUploads} where id = ${id}`,
      ),
  ])
  return inserted.length === 1
}

/**
 * Unfinished tus uploads of an account, the bytes that the uploads reserve, and the bytes that the
 * account stores.
 */
export type StorageReservations = {
  openUploads: number
  openUploadsOfLink: number
  storedBytes: number
  reservedBytes: number
}

/**
 * Returns the storage reservations of an account, and the number of unfinished uploads of an upload
 * link.
 */
export async function readStorageReservations(
  { accountId, sql: database }: AccountDatabase,
  linkId: string | null,
): Promise<StorageReservations> {
  const open = openUploadsOf(accountId)
  const [row] = await database
    .select({
      openUploads: sql<number>`(select count(*) from ${open})`,
      openUploadsOfLink: sql<number>`${countOpenOfLink(accountId, linkId ?? "")}`,
      storedBytes: storedFileBytesSql(accountId),
      reservedBytes: reservedUploadBytesSql(accountId),
    })
    .from(sql`json_each('[1]')`)
  return row ?? { openUploads: 0, openUploadsOfLink: 0, storedBytes: 0, reservedBytes: 0 }
}

function countOpenOfLink(accountId: string, linkId: string): SQL {
  return sql`(select count(*) from ${openUploadsOf(accountId)} where link_id = ${linkId})`
}

function openUploadsOf(accountId: string): SQL {
  return sql`(select size_bytes, link_id from tus_uploads where account_id = ${accountId} and finished_at is null)`
}

/**
 * Row of a tus upload, and the row in `uploads` that tracks its R2 object until a file owns the
 * object. `upload` is null if a file owns the object or the object does not exist.
 */
export type TusUploadWithObjectRow = { row: TusUpload; upload: Upload | null }

export async function findTusUpload(
  { accountId, sql: database }: AccountDatabase,
  id: string,
): Promise<TusUploadWithObjectRow | null> {
  const [found] = await database
    .select({ row: tusUploads, upload: uploads })
    .from(tusUploads)
    .leftJoin(uploads, eq(uploads.id, tusUploads.id))
    .where(and(eq(tusUploads.id, id), eq(tusUploads.accountId, accountId)))
  return found ?? null
}

/** Returns the unfinished tus uploads of an account, newest first. */
export async function listOpenTusUploads({
  accountId,
  sql: database,
}: AccountDatabase): Promise<TusUploadWithObjectRow[]> {
  return await database
    .select({ row: tusUploads, upload: uploads })
    .from(tusUploads)
    .innerJoin(uploads, eq(uploads.id, tusUploads.id))
    .where(and(eq(tusUploads.accountId, accountId), isNull(tusUploads.finishedAt)))
    .orderBy(desc(tusUploads.id))
}

/** Returns the unfinished tus uploads that clients began with an upload link. */
export async function listOpenTusUploadsOfLink(
  { accountId, sql: database }: AccountDatabase,
  linkId: string,
): Promise<TusUpload[]> {
  const { finishedAt } = tusUploads
  return await database
    .select(getTableColumns(tusUploads))
    .from(tusUploads)
    .innerJoin(uploads, eq(uploads.id, tusUploads.id))
    .where(
      and(eq(tusUploads.accountId, accountId), isNull(finishedAt), eq(tusUploads.linkId, linkId)),
    )
}

/** Row of an unfinished tus upload, and the row in `uploads` that tracks its R2 object. */
export type OpenTusUpload = { row: TusUpload; upload: Upload }

/**
 * Makes a request the only writer of a tus upload of which exactly `offsetBytes` are stored.
 * Requests that wrote earlier can no longer store anything. Returns null if the upload has another
 * offset, is complete or does not exist.
 */
export async function claimTusUpload(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  claim: { writer: string; offsetBytes: number; now: number; expiresAt: number },
): Promise<OpenTusUpload | null> {
  const { writer, offsetBytes, now, expiresAt } = claim
  const isKept = sql`exists (select 1 from ${uploads} where id = ${id} and removal_tried_at is null)`
  const [claimed, , [upload]] = await database.batch([
    database
      .update(tusUploads)
      .set({ writer, expiresAt })
      .where(
        and(
          eq(tusUploads.id, id),
          eq(tusUploads.accountId, accountId),
          eq(tusUploads.offsetBytes, offsetBytes),
          lt(tusUploads.offsetBytes, tusUploads.sizeBytes),
          isNull(tusUploads.finishedAt),
          isKept,
        ),
      )
      .returning(),
    database
      .update(uploads)
      .set({ createdAt: now })
      .where(and(eq(uploads.id, id), isWriting(id, writer))),
    database.select().from(uploads).where(eq(uploads.id, id)),
  ])
  const [row] = claimed
  return row && upload ? { row, upload } : null
}

/**
 * Reserves the next part number of a tus upload. Returns null if another request has become the
 * writer.
 */
export async function claimTusPartNumber(
  { sql: database }: AccountDatabase,
  id: string,
  writer: string,
): Promise<number | null> {
  const [row] = await database
    .update(tusUploads)
    .set({ partsClaimed: sql`parts_claimed + 1` })
    .where(isWriterOf(id, writer))
    .returning({ number: tusUploads.partsClaimed })
  return row?.number ?? null
}

/**
 * Records that a tus upload has had a tail: an R2 object with the bytes after the last complete
 * part. Only with this record are the tails deleted at the end of the upload. Returns false if
 * another request has become the writer.
 */
export async function recordTusUploadHasPartialParts(
  { sql: database }: AccountDatabase,
  id: string,
  writer: string,
): Promise<boolean> {
  const rows = await database
    .update(tusUploads)
    .set({ hasTails: true })
    .where(isWriterOf(id, writer))
    .returning({ id: tusUploads.id })
  return rows.length === 1
}

/**
 * Stores R2's id of the multipart upload. Returns false if another request has become the writer.
 */
export async function saveTusMultipartId(
  { sql: database }: AccountDatabase,
  id: string,
  writer: string,
  multipartId: string,
): Promise<boolean> {
  const rows = await database
    .update(uploads)
    .set({ multipartId })
    .where(and(eq(uploads.id, id), isWriting(id, writer)))
    .returning({ id: uploads.id })
  return rows.length === 1
}

/**
 * Progress of a tus upload after a request has stored parts, and the bytes after the last complete
 * part (the tail), in R2.
 */
export type TusProgress = {
  parts: UploadPart[]
  offsetBytes: number
  partsClaimed: number
  tail: { key: string; bytes: number } | null
  now: number
  expiresAt: number
}

/**
 * Stores the progress of a tus upload in one batch. Returns false, and stores nothing, if another
 * request has become the writer.
 */
export async function saveTusProgress(
  { sql: database }: AccountDatabase,
  id: string,
  writer: string,
  { parts, offsetBytes, partsClaimed, tail, now, expiresAt }: TusProgress,
): Promise<boolean> {
  const isWriter = isWriting(id, writer)
  const theirs = sql`select ${id}, value ->> 'number', value ->> 'etag', value ->> 'sizeBytes' from json_each(${JSON.stringify(parts)}) where ${isWriter}`
  const [, saved] = await database.batch([
    database.insert(uploadParts).select(theirs),
    database
      .update(tusUploads)
      .set({
        offsetBytes,
        partsClaimed,
        tailKey: tail?.key ?? null,
        tailBytes: tail?.bytes ?? 0,
        expiresAt,
      })
      .where(isWriterOf(id, writer))
      .returning({ id: tusUploads.id }),
    database
      .update(uploads)
      .set({ createdAt: now })
      .where(and(eq(uploads.id, id), isWriter)),
  ])
  return saved.length === 1
}

/**
 * Marks a tus upload as finished before its file is created, so that the upload can no longer be
 * deleted. Returns false if the upload was already deleted.
 */
export async function markTusUploadFinished(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  finishedAt: number | null,
): Promise<boolean> {
  const rows = await database
    .update(tusUploads)
    .set({ finishedAt, writer: null })
    .where(and(eq(tusUploads.id, id), eq(tusUploads.accountId, accountId)))
    .returning({ id: tusUploads.id })
  return rows.length === 1
}

/**
 * Removes the rows of the parts, and the tails (bytes after the last complete part), of a tus
 * upload whose file exists.
 */
export async function removeTusUploadParts(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  now: number,
): Promise<void> {
  await runBatch(database, [
    database.delete(uploadParts).where(eq(uploadParts.uploadId, id)),
    ...removeTails(database, { id, accountId }, now),
    database
      .update(tusUploads)
      .set({ tailKey: null, tailBytes: 0, hasTails: false })
      .where(eq(tusUploads.id, id)),
  ])
}

/**
 * Deletes the row of a tus upload, so that no request can write to the upload. The sweep deletes
 * its tails (bytes after the last complete part); the object stays. Returns the object's row in
 * `uploads`; null if a file owns the object; undefined if the upload is finished and `isForced` is
 * not set.
 */
export async function deleteTusUpload(
  database: Database,
  { id, accountId }: Pick<TusUpload, "id" | "accountId">,
  { now, isForced }: { now: number; isForced: boolean },
): Promise<Upload | null | undefined> {
  const isDeletable = isForced ? undefined : isNull(tusUploads.finishedAt)
  const isLeftOver = sql`not exists (select 1 from ${uploads} where ${uploads.id} = ${id})`
  const [, deleted, [upload = null]] = await database.batch([
    ...removeTails(database, { id, accountId }, now),
    database
      .delete(tusUploads)
      .where(and(eq(tusUploads.id, id), isDeletable))
      .returning({ id: tusUploads.id }),
    database.select().from(uploads).where(eq(uploads.id, id)),
    // The rows of the parts stay while `uploads` has a row for the upload's object. They are
    // deleted together with that row later.
    database.delete(uploadParts).where(and(eq(uploadParts.uploadId, id), isLeftOver)),
  ])
  return deleted.length === 1 ? upload : undefined
}

/** Returns expired tus uploads of all accounts, the longest expired first. */
export async function listExpiredTusUploads(
  database: Database,
  now: number,
  limit: number,
): Promise<TusUpload[]> {
  return await database
    .select()
    .from(tusUploads)
    .where(lt(tusUploads.expiresAt, now))
    .orderBy(asc(tusUploads.expiresAt))
    .limit(limit)
}

/**
 * Returns the statement that lets the sweep delete the tails (bytes after the last complete part)
 * of a tus upload. The statement does nothing if the upload never had a tail.
 */
function removeTails(
  database: Database,
  { id, accountId }: Pick<TusUpload, "id" | "accountId">,
  now: number,
): [Statement] {
  const prefix = makeTusTailKeyPrefix(accountId, id)
  const row = sql`select ${prefix}, null, ${now}, 0 from ${tusUploads} where id = ${id} and has_tails`
  return [database.insert(garbage).select(row).onConflictDoNothing()]
}

function isWriterOf(id: string, writer: string): SQL | undefined {
  return and(eq(tusUploads.id, id), eq(tusUploads.writer, writer))
}

function isWriting(id: string, writer: string): SQL {
  return sql`exists (select 1 from tus_uploads as own where own.id = ${id} and own.writer = ${writer})`
}
