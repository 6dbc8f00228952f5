import { z } from "zod"

/**
 * On every answer of the Worker that is about a task's source in a store: `found` with its bytes, or
 * 412 or 416 where another version or no such range is there; with 424 `refused`, `unlisted` where
 * the operator no longer lists the bucket, and `unreachable` where the store did not answer.
 */
export const SOURCE_HEADER = "lathe-source"

/** The key that was found, percent-encoded. */
export const SOURCE_KEY_HEADER = "lathe-source-key"

/** The status of a store that refused. */
export const SOURCE_STATUS_HEADER = "lathe-source-status"

/** The store's own word for why it refused, such as `AccessDenied`. */
export const SOURCE_CODE_HEADER = "lathe-source-code"

export const sourceAnswer = z.enum(["found", "refused", "unlisted", "unreachable"])

export type SourceAnswer = z.infer<typeof sourceAnswer>
