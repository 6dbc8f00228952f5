import type { NewBatch } from "../../db/batches.ts"
import { newId } from "../../platform/ids.ts"
import { acceptJobs, findInputRowsAndAcceptedJob } from "../../jobs/create.ts"
import type { AppContext } from "../context.ts"
import { readJobCreator, readJobProperties, requireAcceptedJob } from "./accept.ts"
import { readBatchItems } from "./batch.ts"
import type { BatchRequest } from "./batch.ts"
import { draftBatchJobs } from "./draft-batch.ts"
import { getPublicOrigin, readIdempotencyKeyAndHash } from "./request.ts"

/**
 * Creates a batch with all its jobs, and returns the id of the batch. A repeated `Idempotency-Key`
 * returns the id of the earlier batch. Throws 422 with the faults of all jobs.
 */
export async function createBatch(c: AppContext, request: BatchRequest): Promise<string> {
  const once = await readIdempotencyKeyAndHash(c, request)
  const read = readBatchItems(c, request)
  const ids = {
    fileIds: [...new Set(read.items.flatMap((item) => item.ids.fileIds))],
    jobIds: [...new Set(read.items.flatMap((item) => item.ids.jobIds))],
  }
  const database = c.get("database")
  const { rows, known } = await findInputRowsAndAcceptedJob(database, ids, once)
  if (known) return requireAcceptedJob(c, known).jobId
  const { webhookUrl, metadata, retentionMs = null } = readJobProperties(c, request)
  const batch = draftBatchRow(c, { webhookUrl, metadata, retentionMs, retryOf: null })
  const drafts = await draftBatchJobs(c, read, { batchId: batch.id, rows })
  const by = { database, creating: readJobCreator(c) }
  const accepted = await acceptJobs(c.env, c.executionCtx, by, { drafts, batch, once })
  return requireAcceptedJob(c, accepted).jobId
}

/** Returns the D1 row of a new batch, without storing the row. */
export function draftBatchRow(
  c: AppContext,
  fields: Pick<NewBatch, "webhookUrl" | "metadata" | "retentionMs" | "retryOf">,
): NewBatch {
  return { ...fields, id: newId(), origin: getPublicOrigin(c), createdAt: Date.now() }
}
