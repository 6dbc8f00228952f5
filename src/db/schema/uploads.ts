import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core"

/** Objects that are being written to R2. The sweep deletes the objects of abandoned uploads. */
export const uploads = sqliteTable(
  "uploads",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    objectKey: text("object_key").notNull(),
    /** Id of R2's multipart upload; null while a single put suffices. */
    multipartId: text("multipart_id"),
    /** Id of the task whose runner writes the upload; null for other uploads. */
    taskId: text("task_id"),
    /**
     * Validator, such as an ETag, of the URL that a task downloads. A later run of the task
     * continues the upload if the validator is the same. Null if the upload cannot be continued.
     */
    validator: text("validator"),
    createdAt: integer("created_at").notNull(),
    /** Time of the last attempt to remove the upload; null before the first attempt. */
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

/** Stored parts of multipart uploads. A later run of the same task continues after them. */
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

/** Fields of a create that an upload keeps until its File exists. */
export type UploadFields = {
  webhook?: string | null | undefined
  metadata?: Record<string, string> | null | undefined
  priority: number
  expires_in?: number | null | undefined
  publish?: boolean | undefined
}

/**
 * Uploads by the tus protocol. A row has the id of its upload, which is also the id of the File
 * that the upload becomes.
 */
export const tusUploads = sqliteTable(
  "tus_uploads",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /** Id of the upload link by which the upload came; null for an upload with a key. */
    linkId: text("link_id"),
    name: text("name").notNull(),
    contentType: text("content_type").notNull(),
    fields: text("fields", { mode: "json" }).$type<UploadFields>().notNull(),
    /** Header `Upload-Metadata` as the client sent it. */
    metadataHeader: text("metadata_header").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** Size of each part of the multipart upload but the last. */
    partBytes: integer("part_bytes").notNull(),
    /** Number of bytes that are stored: those of the parts, and of the tail. */
    offsetBytes: integer("offset_bytes").notNull().default(0),
    /** Highest part number in use. A number is never used twice, so that no late write replaces a part. */
    partsClaimed: integer("parts_claimed").notNull().default(0),
    /** R2 key of the bytes behind the last whole part; null if there are none. */
    tailKey: text("tail_key"),
    tailBytes: integer("tail_bytes").notNull().default(0),
    /** Whether a tail was ever written. */
    hasTails: integer("has_tails", { mode: "boolean" })
      .notNull()
      .default(sql`0`),
    /** Id of the request that writes; each new writer replaces the one before. */
    writer: text("writer"),
    expiresAt: integer("expires_at").notNull(),
    /** Time at which the File was created; null before. */
    finishedAt: integer("finished_at"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("tus_uploads_of_account").on(table.accountId, table.finishedAt, table.id),
    index("tus_uploads_by_expiry").on(table.expiresAt),
  ],
)

/** Links by which a browser uploads one file without a key. */
export const uploadLinks = sqliteTable(
  "upload_links",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /** Key that created the link; null for a user of the dashboard. */
    keyId: text("key_id"),
    /** SHA-256 of the secret in the link's URL, in hexadecimal. */
    secretHash: text("secret_hash").notNull(),
    sizeBytesMax: integer("size_bytes_max").notNull(),
    /** Media types such as `video/*`; empty allows every type. */
    types: text("types", { mode: "json" }).$type<string[]>().notNull(),
    /** Origins whose pages may use the link; empty allows none. */
    origins: text("origins", { mode: "json" }).$type<string[]>().notNull(),
    fields: text("fields", { mode: "json" }).$type<UploadFields>().notNull(),
    /** Id of the File that used the link up; null before. */
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
 * Prefixes of R2 keys that belong to no row. Their objects are deleted, and deleted again an hour
 * later.
 */
export const garbage = sqliteTable(
  "garbage",
  {
    prefix: text("prefix").primaryKey(),
    /** Id of a deleted file. Its objects stay while a running task reads the file. */
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
