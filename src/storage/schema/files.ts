import { sql } from "drizzle-orm"
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { Bundle } from "../../contract/bundle.ts"
import type { FailureCode } from "../../contract/failure.ts"
import type { ProbeResult } from "../../contract/probe.ts"
import { compactHash } from "../compact-text.ts"
import { packedJson } from "../packed-text.ts"
import { FILE_SOURCES, STATES } from "./states.ts"

export const files = sqliteTable(
  "files",
  {
    /** That of its job where it has one for itself, that of its task for an import; else its own. */
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    jobId: text("job_id").notNull(),
    /** The key of the output of its job that this file is; none for an upload. */
    outputKey: text("output_key"),
    name: text("name").notNull(),
    source: text("source", { enum: FILE_SOURCES }).notNull(),
    /** The URL that it was imported from; none for other files. */
    sourceUrl: text("source_url"),
    state: text("state", { enum: STATES }).notNull(),
    objectKey: text("object_key"),
    sizeBytes: integer("size_bytes"),
    contentType: text("content_type"),
    /** SHA-256 of the bytes, hexadecimal; none where nobody computed it on their way in. */
    sha256: compactHash("sha256"),
    probe: packedJson("probe").$type<ProbeResult>(),
    /** Where the whole probe is when it is too big for a row; `probe` then has no streams. */
    probeObjectKey: text("probe_object_key"),
    probeError: text("probe_error"),
    /** What a file of several files consists of; none for a plain one. */
    bundle: text("bundle", { mode: "json" }).$type<Bundle>(),
    /** Where the whole bundle is when it is too large; `bundle` then has no members. */
    bundleObjectKey: text("bundle_object_key"),
    errorCode: text("error_code").$type<FailureCode>(),
    errorMessage: text("error_message"),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
    /** Since then whoever knows its address may read it; none for a file of its account alone. */
    publishedAt: integer("published_at"),
  },
  (table) => [
    index("files_of_job").on(table.jobId),
    // Those that files_listed does not have: few, once their jobs are over.
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
    index("files_fetched")
      .on(table.completedAt)
      .where(sql`source = 'fetch' and object_key is not null`),
  ],
)

export type File = typeof files.$inferSelect
