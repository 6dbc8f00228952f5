/** States of jobs, tasks and files inside the service; callers read other words, made by views. */
export const STATES = ["waiting", "running", "succeeded", "failed", "canceled"] as const
export type State = (typeof STATES)[number]

export const OPEN_STATES = ["waiting", "running"] as const satisfies readonly State[]
export type FinalState = Exclude<State, (typeof OPEN_STATES)[number]>

export function isFinal(state: State): state is FinalState {
  return state !== "waiting" && state !== "running"
}

export const DELIVERY_STATES = ["waiting", "delivered", "failed"] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Which record a webhook sends: that of the job's own kind, or the Job. */
export const WEBHOOK_FORMS = ["native", "job"] as const
export type WebhookForm = (typeof WEBHOOK_FORMS)[number]

/**
 * `fetch` is what a fetch made, and `transcript` what a transcription did: no Files of the account,
 * and inputs of no other job.
 */
export const FILE_SOURCES = ["upload", "import", "output", "fetch", "transcript"] as const
export type FileSource = (typeof FILE_SOURCES)[number]

/** Whether a file is one of the Files of its account. */
export function isOfAccount(source: FileSource): boolean {
  return source !== "fetch" && source !== "transcript"
}

/** Whether a file is what its caller gave a job to work on. */
export function isOfCaller(source: FileSource): boolean {
  return source === "import" || source === "upload"
}
