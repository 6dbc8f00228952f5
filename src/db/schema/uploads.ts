import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core"

/**
 * Uploads: objects that are being written to R2. The sweep deletes the objects of abandoned
 * uploads.
 */
export const uploads = sqliteTable(
  "uploads",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    objectKey: text("object_key").notNull(),
    /** Id of R2's multipart upload; null while the upload needs no multipart upload. */
    multipartId: text("multipart_id"),
    /** Id of the task whose runner writes the upload; null for an upload without a task. */
    taskId: text("task_id"),
    /**
     * Validator, such as an ETag, of the URL that a task downloads; null if the upload cannot be
     * continued. A later run of the task continues the upload if the URL still has the same
     * validator.
     */
    validator: text("validator"),
    createdAt: integer("created_at").notNull(),
    /** Time of the last attempt to remove the upload; null if no attempt was made. */
    removalTriedAt: integer("removal_tried_at"),
  },
  (table) => [
    index("uploads_by_age").on(table.createdAt),
    index("uploads_by_removal")
      .on(table.removalTriedAt)
      .where(sql`removal_tried_at is not null`),
    index("uploads_object").on(table.objectKey),
  ],
)

/**
 * Stored parts of multipart uploads. A later run of the same task continues the upload after these
 * parts.
 */
export const uploadParts = sqliteTable(
  "upload_parts",
  {
    uploadId: text("upload_id").notNull(),
    number: integer("number").notNull(),
    etag: text("etag").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
  },
  (table) => [primaryKey({ columns: [table.uploadId, table.number] })],
)

/**
 * Fields of the upload's request, such as `webhook`, for the job that is created together with the
 * file when the upload is complete.
 */
export type UploadRequestFields = {
  webhook?: string | null | undefined
  metadata?: Record<string, string> | null | undefined
  priority: number
  expires_in?: number | null | undefined
  publish?: boolean | undefined
}

/**
 * Uploads by tus, a protocol for resumable uploads. The id of an upload is also the id of the file
 * that is created from it.
 */
export const tusUploads = sqliteTable(
  "tus_uploads",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /**
     * Id of the upload link with which the client began the upload; null for an upload with an API
     * key.
     */
    linkId: text("link_id"),
    name: text("name").notNull(),
    contentType: text("content_type").notNull(),
    fields: text("fields", { mode: "json" }).$type<UploadRequestFields>().notNull(),
    /** Header `Upload-Metadata` exactly as the tus client sent it. */
    metadataHeader: text("metadata_header").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** Size of each part of the multipart upload except the last, in bytes. */
    partBytes: integer("part_bytes").notNull(),
    /** Number of stored bytes: the sizes of all parts plus the size of the tail. */
    offsetBytes: integer("offset_bytes").notNull().default(0),
    /**
     * Highest part number in use. No part number is used twice, so that a late write cannot replace
     * a part.
     */
    partsClaimed: integer("parts_claimed").notNull().default(0),
    /** R2 key of the tail: the bytes after the last complete part. Null if there is no tail. */
    tailKey: text("tail_key"),
    tailBytes: integer("tail_bytes").notNull().default(0),
    /** Whether the upload ever had a tail, so that R2 may hold tails to delete at its end. */
    hasTails: integer("has_tails", { mode: "boolean" })
      .notNull()
      .default(sql`0`),
    /**
     * Id of the request that may write to the upload. A later request of the tus client replaces
     * the writer.
     */
    writer: text("writer"),
    expiresAt: integer("expires_at").notNull(),
    /** Time at which the upload was marked as finished; null for an unfinished upload. */
    finishedAt: integer("finished_at"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("tus_uploads_of_account").on(table.accountId, table.finishedAt, table.id),
    index("tus_uploads_by_expiry").on(table.expiresAt),
  ],
)

/** Upload links, with which a browser uploads one file without an API key. */
export const uploadLinks = sqliteTable(
  "upload_links",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /**
     * Id of the API key that created the link; null if a user of the dashboard created the link.
     */
    keyId: text("key_id"),
    /** SHA-256 of the secret in the link's URL, in hexadecimal. */
    secretHash: text("secret_hash").notNull(),
    sizeBytesMax: integer("size_bytes_max").notNull(),
    /** Media types that may be uploaded, such as `video/*`. An empty list allows every type. */
    types: text("types", { mode: "json" }).$type<string[]>().notNull(),
    /** Origins whose pages may use the link. An empty list allows no page. */
    origins: text("origins", { mode: "json" }).$type<string[]>().notNull(),
    fields: text("fields", { mode: "json" }).$type<UploadRequestFields>().notNull(),
    /** Id of the file that was uploaded with the link; null for an unused link. */
    fileId: text("file_id"),
    expiresAt: integer("expires_at").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("upload_links_secret").on(table.secretHash),
    index("upload_links_of_account").on(table.accountId, table.id),
    index("upload_links_by_expiry").on(table.expiresAt),
  ],
)

/**
 * Prefixes of R2 keys whose objects no row owns. The sweep deletes the objects of a prefix, and an
 * hour later deletes them again.
 */
export const garbage = sqliteTable(
  "garbage",
  {
    prefix: text("prefix").primaryKey(),
    /**
     * Id of a deleted file whose objects have the prefix. The objects stay while a running task
     * reads the file.
     */
    fileId: text("file_id"),
    dueAt: integer("due_at").notNull(),
    deletions: integer("deletions").notNull().default(0),
  },
  (table) => [index("garbage_due").on(table.dueAt)],
)

export type Upload = typeof uploads.$inferSelect
export type Garbage = typeof garbage.$inferSelect
export type TusUpload = typeof tusUploads.$inferSelect
export type UploadLink = typeof uploadLinks.$inferSelect
