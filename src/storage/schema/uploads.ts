import { sql } from "drizzle-orm"
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** Bytes on their way into R2, so that whatever is abandoned can be found and removed. */
export const uploads = sqliteTable(
  "uploads",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    objectKey: text("object_key").notNull(),
    /** R2's multipart id; none while the bytes fit one put. */
    multipartId: text("multipart_id"),
    /** The task that writes it; none for a caller's upload. */
    taskId: text("task_id"),
    /**
     * What the source of a task's upload said it is, such as its ETag: a later run of the task that
     * finds the same goes on where this one was. None where nothing can be resumed.
     */
    validator: text("validator"),
    createdAt: integer("created_at").notNull(),
    /** The last try to remove it with its bytes; none before the first. */
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

/** Parts of an upload that a later run of its task may go on from. */
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

/** Prefixes in R2 without an owner; the objects below each are deleted twice, an hour apart. */
export const garbage = sqliteTable(
  "garbage",
  {
    prefix: text("prefix").primaryKey(),
    /** A deleted file's objects wait until no running task names the file. */
    fileId: text("file_id"),
    dueAt: integer("due_at").notNull(),
    deletions: integer("deletions").notNull().default(0),
  },
  (table) => [index("garbage_due").on(table.dueAt)],
)

export type Upload = typeof uploads.$inferSelect
export type Garbage = typeof garbage.$inferSelect
