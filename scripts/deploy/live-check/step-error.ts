/**
 * Facts about a failed step of the live check, from which `findLikelyFailureCause` finds the likely
 * cause.
 */
export type LiveCheckStepEvidence = {
  /** HTTP status of the error response. */
  status?: number
  /** Status of the step's job; absent if no job was created. */
  job?: "queued" | "processing" | "completed" | "failed"
  /** Error code of the job or of the error response. */
  code?: string
  /** Fields of the request that the error response names. */
  fields?: string[]
  /** Runner pool for which the step's task waits or in which it ran. */
  pool?: string
}

/** Failure of a step of the live check. The message describes the failure. */
export class LiveCheckStepError extends Error {
  readonly evidence: LiveCheckStepEvidence

  constructor(message: string, evidence: LiveCheckStepEvidence = {}, options?: ErrorOptions) {
    super(message, options)
    this.evidence = evidence
  }
}
