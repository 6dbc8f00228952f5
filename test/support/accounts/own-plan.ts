/** Limits of a plan that an operator creates, by the names of the API's fields. */
export const GOLD_PLAN_LIMITS = {
  requests_per_minute: 100,
  running_jobs: 2,
  waiting_jobs: 10,
  file_bytes: 1_000_000,
  input_bytes: 2_000_000,
  run_seconds: 60,
  storage_bytes: 10_000_000,
  fetches_per_day: 5,
  link_seconds: 600,
}
