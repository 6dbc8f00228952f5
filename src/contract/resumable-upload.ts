import { z } from "zod"

// An upload of an output that a later run of its task goes on with, where the source of the bytes is
// the same. Its routes are below `{io}/outputs/{key}/resumable`.

/** Parts are equal but for the last one; R2 takes 10,000 of at least 5 MiB. */
export const RESUMABLE_PART_BYTES = 8 * 1024 * 1024
export const PARTS_MAX = 10_000

/** Begins or finds an upload; `validator` stands for what the source says that its bytes are. */
export const resumableBegin = z.object({
  validator: z.string().min(1).max(200),
  content_type: z.string().max(200),
})

export const storedPart = z.object({
  part_number: z.int().positive(),
  size_bytes: z.int().nonnegative(),
  etag: z.string().min(1),
})

/** `stored_bytes`: an earlier run has completed it; the rest is an upload and its parts so far. */
export const resumableBegun = z.union([
  z.object({ stored_bytes: z.int().nonnegative() }),
  z.object({ upload_id: z.string().min(1), parts: z.array(storedPart) }),
])

export type StoredPart = z.infer<typeof storedPart>
