/**
 * Times that decide how long stored data is kept, in milliseconds: the current time, the retention
 * of fetched media, and the maximum retention (null: unlimited).
 */
export type RetentionSettings = { now: number; fetchedMs: number; retentionMsMax: number | null }
