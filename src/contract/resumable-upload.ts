import { z } from "zod"

// A later run of the same task can resume the upload of an output, if the bytes of the source are
// unchanged. The routes of resumable uploads begin with `{io}/outputs/{key}/resumable`.

/**
 * Size of each part of a resumable upload except the last part, in bytes. R2 accepts up to 10,000
 * parts of at least 5 MiB.
 */
export const RESUMABLE_PART_BYTES = 8 * 1024 * 1024
export const RESUMABLE_PARTS_MAX = 10_000

/**
 * Request that starts a new resumable upload or finds an existing one. `validator` identifies the
 * version of the source, like an ETag.
 */
export const resumableUploadRequestSchema = z.object({
  validator: z.string().min(1).max(200),
  content_type: z.string().max(200),
})

export const storedPartSchema = z.object({
  part_number: z.int().positive(),
  size_bytes: z.int().nonnegative(),
  etag: z.string().min(1),
})

/**
 * Response to the request that starts or finds a resumable upload. Contains `stored_bytes` if an
 * earlier run has completed the upload, else the open upload and the parts that are already stored.
 */
export const resumableUploadResponseSchema = z.union([
  z.object({ stored_bytes: z.int().nonnegative() }),
  z.object({ upload_id: z.string().min(1), parts: z.array(storedPartSchema) }),
])

export type StoredPart = z.infer<typeof storedPartSchema>
