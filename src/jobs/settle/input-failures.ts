import type { Failure } from "../../contract/failure.ts"
import { findKind } from "../../kinds/registry.ts"
import type { UnreadableInput } from "../../db/jobs/open-tasks.ts"
import type { File } from "../../db/schema/files.ts"
import { isCallerFileSource } from "../../domain/states.ts"
import type { Task } from "../../db/schema/tasks.ts"
import type { JobSnapshot } from "../../domain/snapshot.ts"

/**
 * Returns the failure of a job whose inputs with these keys failed. `neededJobId` is the job that
 * should have written the inputs; null for imports.
 */
function inputFailed(
  keys: readonly string[],
  { code, message, lines }: Pick<Failure, "code" | "message" | "lines">,
  neededJobId: string | null = null,
): Failure {
  const why =
    neededJobId === null ? "could not be imported" : `was not written by the job ${neededJobId}`
  return {
    code: "input_failed",
    message: `${nameInputs(keys)} ${why}: ${code}: ${message}`,
    lines,
  }
}

/**
 * Returns the failure of a task that can never start because inputs cannot be read; null if all
 * inputs can be read.
 */
export function makeLostInputsFailure(lostInputs: readonly UnreadableInput[]): Failure | null {
  const deleted = lostInputs.filter(({ failure }) => failure === null)
  if (deleted.length > 0) {
    const names = nameInputs(deleted.map(({ key }) => key))
    const were = deleted.length > 1 ? "were" : "was"
    const message = `${names} ${were} deleted before the job could read ${deleted.length > 1 ? "them" : "it"}.`
    return { code: "input_deleted", message, lines: [] }
  }
  const [failed] = lostInputs
  return failed?.failure ? inputFailed([failed.key], failed.failure, failed.neededJobId) : null
}

/**
 * Returns the subject of an error sentence, which names inputs by their keys: `The input "in_1"`.
 */
function nameInputs(keys: readonly string[]): string {
  const quoted = [...new Set(keys)].map((key) => `"${key}"`)
  if (quoted.length === 1) return `The input ${quoted.join("")}`
  return `The inputs ${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1) ?? ""}`
}

/**
 * Returns the failure of a job from the final failure of its task. If the task imported inputs, the
 * failure names these inputs. For other tasks the kind may add an explanation.
 */
export function toJobFailure(
  { job, tasks, inputs }: JobSnapshot,
  task: Task,
  failure: Failure,
): Failure {
  const { id } = task
  const keys = inputs.flatMap(({ fileId, awaitsProbe, key }) =>
    fileId === id && awaitsProbe ? [key] : [],
  )
  if (keys.length > 0) return inputFailed(keys, failure)
  return findKind(job.kind)?.explainFailure?.(failure, task, tasks) ?? failure
}

/**
 * Task that failed finally, with its failure. The failure of an import is also the failure of its
 * file.
 */
export type FailedTask = { task: Task; failure: Failure }

/**
 * Returns how the row of a file changes when its job ends, for a file that was imported or uploaded
 * as an input of the job and stays a file of the account. Returns null for all other files.
 */
export function computeInputFileColumnsAtJobEnd(
  { job }: JobSnapshot,
  file: File,
  { now, failed }: { now: number; failed: FailedTask | undefined },
): Partial<File> | null {
  if (!isCallerFileSource(file.source) || file.id === job.id) return null
  if (file.objectKey !== null) {
    const probeError = "The file was not probed, because its job ended first."
    return { state: "succeeded", completedAt: now, probeError }
  }
  const failure = failed?.task.id === file.id ? failed.failure : ENDED_BEFORE
  const { code: errorCode, message: errorMessage } = failure
  return { state: "failed", completedAt: now, errorCode, errorMessage }
}

const ENDED_BEFORE: Failure = {
  code: "canceled",
  message: "The file was not imported, because its job ended first.",
  lines: [],
}
