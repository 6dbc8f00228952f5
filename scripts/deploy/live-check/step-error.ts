/** What is known of a step that failed, by which its cause is looked for. */
export type Evidence = {
  /** Status of the answer that refused it. */
  status?: number
  /** How far its job came; none where there is no job. */
  job?: "queued" | "processing" | "completed" | "failed"
  /** Code of the error of its job or of the answer. */
  code?: string
  /** Fields of the request that the answer finds fault with. */
  fields?: string[]
  /** The pool that its task waits for or ran in. */
  pool?: string
}

/** A step of the check that failed: the message says what happened. */
export class StepError extends Error {
  readonly evidence: Evidence

  constructor(message: string, evidence: Evidence = {}, options?: ErrorOptions) {
    super(message, options)
    this.evidence = evidence
  }
}
