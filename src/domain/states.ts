/** Internal states of jobs, tasks and files. API records show other words for these states. */
export const STATES = ["waiting", "running", "succeeded", "failed", "canceled"] as const
export type State = (typeof STATES)[number]

export const OPEN_STATES = ["waiting", "running"] as const satisfies readonly State[]
export const FINAL_STATES = ["succeeded", "failed", "canceled"] as const satisfies readonly State[]
export type FinalState = (typeof FINAL_STATES)[number]

export function isFinalState(state: State): state is FinalState {
  return state !== "waiting" && state !== "running"
}

export const DELIVERY_STATES = ["waiting", "delivered", "failed"] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/**
 * Forms of the record that a webhook sends: the record of the job's kind (`native`), or the common
 * Job record (`job`).
 */
export const WEBHOOK_FORMS = ["native", "job"] as const
export type WebhookForm = (typeof WEBHOOK_FORMS)[number]

/**
 * Origins of stored files. Files of origin `fetch` and `transcript` are not listed among the files
 * of the account. Other jobs read them as outputs of the job that wrote them.
 */
export const FILE_SOURCES = ["upload", "import", "output", "fetch", "transcript"] as const
export type FileSource = (typeof FILE_SOURCES)[number]

/** Reports whether files of this origin are listed among the files of their account. */
export function isAccountFileSource(source: FileSource): boolean {
  return source !== "fetch" && source !== "transcript"
}

/** Reports whether a file with this source was uploaded or imported by the caller as an input. */
export function isCallerFileSource(source: FileSource): boolean {
  return source === "import" || source === "upload"
}
