import { sql } from "drizzle-orm"
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { Bundle } from "../../contract/bundle.ts"
import type { FailureCode } from "../../contract/failure.ts"
import type { ProbeResult } from "../../contract/probe.ts"
import { compactHashColumn } from "../values/compact-text.ts"
import { compressedJsonColumn } from "../values/compressed-text.ts"
import { FILE_SOURCES, STATES } from "../../domain/states.ts"

export const files = sqliteTable(
  "files",
  {
    /**
     * Id of the file. For a job that only uploads or imports the file, the id equals the job's id.
     * For an import as an input of a job, the id equals the task's id. Other files have an id of
     * their own.
     */
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    jobId: text("job_id").notNull(),
    /**
     * Key by which the job's request names the output, such as `out_1`; null for an uploaded file.
     */
    outputKey: text("output_key"),
    name: text("name").notNull(),
    source: text("source", { enum: FILE_SOURCES }).notNull(),
    /** URL from which the file was imported; null for a file that was not imported. */
    sourceUrl: text("source_url"),
    state: text("state", { enum: STATES }).notNull(),
    objectKey: text("object_key"),
    sizeBytes: integer("size_bytes"),
    contentType: text("content_type"),
    /** SHA-256 of the file, hexadecimal; null if the transfer computed no hash. */
    sha256: compactHashColumn("sha256"),
    probe: compressedJsonColumn("probe").$type<ProbeResult>(),
    /** R2 key of a probe that is too large for the row; `probe` then has no streams. */
    probeObjectKey: text("probe_object_key"),
    probeError: text("probe_error"),
    /** Description of a bundle (a playlist or a series of images); null for a single file. */
    bundle: text("bundle", { mode: "json" }).$type<Bundle>(),
    /**
     * R2 key of a bundle description that is too large for the row; `bundle` then has no members.
     */
    bundleObjectKey: text("bundle_object_key"),
    errorCode: text("error_code").$type<FailureCode>(),
    errorMessage: text("error_message"),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
    /**
     * Time of publication; null for a private file. The URL of a published file needs no API key.
     */
    publishedAt: integer("published_at"),
  },
  (table) => [
    index("files_of_job").on(table.jobId),
    // Covers the files that the index `files_listed` omits. Few of these files remain after their
    // jobs end.
    index("files_unlisted")
      .on(table.accountId)
      .where(sql`source in ('fetch', 'transcript') or (object_key is null and source <> 'import')`),
    index("files_listed")
      .on(table.accountId, table.state, table.id)
      .where(
        sql`source not in ('fetch', 'transcript') and (object_key is not null or source = 'import')`,
      ),
    index("files_listed_by_source")
      .on(table.accountId, table.source, table.state, table.id)
      .where(
        sql`source not in ('fetch', 'transcript') and (object_key is not null or source = 'import')`,
      ),
    index("files_listed_by_name")
      .on(table.accountId, table.name, table.state, table.id)
      .where(
        sql`source not in ('fetch', 'transcript') and (object_key is not null or source = 'import')`,
      ),
    index("files_fetched")
      .on(table.completedAt)
      .where(sql`source = 'fetch' and object_key is not null`),
  ],
)

export type File = typeof files.$inferSelect
