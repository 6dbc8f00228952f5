import { z } from "zod"

/**
 * Header of every Worker response about a task's source in an S3 store. The value `found` means
 * that the store has the object: the response contains the bytes, or has status 412 or 416 because
 * the version or the range does not match. The other values come with status 424: `refused` (the
 * store refused the request), `unlisted` (the operator no longer lists the bucket) and
 * `unreachable` (the store did not respond).
 */
export const S3_SOURCE_OUTCOME_HEADER = "lathe-source"

/** Header with the percent-encoded key of the S3 object from which the Worker read. */
export const S3_SOURCE_KEY_HEADER = "lathe-source-key"

/** Header with the HTTP status of a store that refused the request. */
export const S3_SOURCE_STATUS_HEADER = "lathe-source-status"

/** Header with the store's error code, such as `AccessDenied`. */
export const S3_SOURCE_ERROR_CODE_HEADER = "lathe-source-code"

export const s3SourceOutcomeSchema = z.enum(["found", "refused", "unlisted", "unreachable"])

export type S3SourceOutcome = z.infer<typeof s3SourceOutcomeSchema>
