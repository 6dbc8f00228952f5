import { z } from "zod"

// Upload of an output that a later run of its task can resume, if the source's bytes are unchanged.
// Its routes are below `{io}/outputs/{key}/resumable`.

/** Size of each part except the last, in bytes. R2 takes up to 10,000 parts of at least 5 MiB. */
export const RESUMABLE_PART_BYTES = 8 * 1024 * 1024
export const RESUMABLE_PARTS_MAX = 10_000

/**
 * Request that begins or finds a resumable upload; `validator` identifies the version of the
 * source, such as an ETag.
 */
export const resumableRequest = z.object({
  validator: z.string().min(1).max(200),
  content_type: z.string().max(200),
})

export const storedPart = z.object({
  part_number: z.int().positive(),
  size_bytes: z.int().nonnegative(),
  etag: z.string().min(1),
})

/**
 * Response to the request that begins a resumable upload: `stored_bytes` if an earlier run has
 * completed the upload, else the open upload with the parts stored until now.
 */
export const resumableResponse = z.union([
  z.object({ stored_bytes: z.int().nonnegative() }),
  z.object({ upload_id: z.string().min(1), parts: z.array(storedPart) }),
])

export type StoredPart = z.infer<typeof storedPart>
