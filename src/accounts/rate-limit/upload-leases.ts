/** Maximum number of concurrent uploads of an API key. */
export const CONCURRENT_UPLOADS_MAX = 16

/**
 * Time in milliseconds after which an upload that has not renewed its lease no longer counts as
 * open.
 */
export const UPLOAD_LEASE_MS = 45_000
