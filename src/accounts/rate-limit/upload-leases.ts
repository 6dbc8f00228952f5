/** Maximum number of concurrent uploads of an API key. */
export const CONCURRENT_UPLOADS_MAX = 16

/**
 * Duration of an upload's lease, in milliseconds. An upload that does not renew its lease in this
 * time no longer counts as open.
 */
export const UPLOAD_LEASE_MS = 45_000
