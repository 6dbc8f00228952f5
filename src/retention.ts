/** How long what was fetched is kept, and the moment at which that is judged. */
export type Retention = { now: number; fetchedMs: number }
