/**
 * How long what was fetched is kept, and the moment at which that is judged; how long anything is,
 * null where that has no end.
 */
export type Retention = { now: number; fetchedMs: number; retentionMsMax: number | null }
