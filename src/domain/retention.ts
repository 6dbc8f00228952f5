/**
 * Current time, retention of fetched media, and maximum retention (null: unlimited), all in
 * milliseconds.
 */
export type RetentionSettings = { now: number; fetchedMs: number; retentionMsMax: number | null }
