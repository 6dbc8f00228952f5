/** Maximum number of jobs of a batch. */
export const JOBS_OF_BATCH_MAX = 64
