/**
 * Current time, retention of fetched media, and maximum retention (null: unlimited), all in
 * milliseconds.
 */
export type Retention = { now: number; fetchedMs: number; retentionMsMax: number | null }
