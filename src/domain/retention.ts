/**
 * Retention of fetched media and the maximum retention (null: unlimited), in milliseconds, with the
 * current time to compare with.
 */
export type Retention = { now: number; fetchedMs: number; retentionMsMax: number | null }
