import type { Failure } from "../../contract/failure.ts"
import { findKind } from "../../kinds/registry.ts"
import type { LostInput } from "../../storage/open-tasks.ts"
import type { File } from "../../storage/schema/files.ts"
import { isOfCaller } from "../../storage/schema/states.ts"
import type { Task } from "../../storage/schema/tasks.ts"
import type { JobSnapshot } from "../../storage/transitions.ts"

/** Why a job fails whose inputs of these keys are a file that could not be brought in. */
function inputFailed(
  keys: readonly string[],
  { code, message, lines }: Pick<Failure, "code" | "message" | "lines">,
): Failure {
  const why = `could not be brought in: ${code}: ${message}`
  return { code: "input_failed", message: `${nameInputs(keys)} ${why}`, lines }
}

/** Why a task can never start, by its inputs that are lost; null where none is. */
export function lostInputsFailure(lost: readonly LostInput[]): Failure | null {
  const gone = lost.filter(({ failure }) => failure === null)
  if (gone.length > 0) {
    const names = nameInputs(gone.map(({ key }) => key))
    const were = gone.length > 1 ? "were" : "was"
    const message = `${names} ${were} deleted before the job could read ${gone.length > 1 ? "them" : "it"}.`
    return { code: "input_deleted", message, lines: [] }
  }
  const [failed] = lost
  return failed?.failure ? inputFailed([failed.key], failed.failure) : null
}

/** Inputs at the begin of a sentence, by their keys. */
function nameInputs(keys: readonly string[]): string {
  const quoted = [...new Set(keys)].map((key) => `"${key}"`)
  if (quoted.length === 1) return `The input ${quoted.join("")}`
  return `The inputs ${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1) ?? ""}`
}

/**
 * Why a job fails whose task failed for good: an import that others of its tasks wait for names the
 * inputs that it was for, and of other tasks its kind may say which it was.
 */
export function jobFailure(
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

/** The task that makes an import's file and failed, whose failure is the file's own. */
export type FailedImport = { task: Task; failure: Failure }

/**
 * What the end of a job that needed it makes of a file that came with it, be it brought in or
 * uploaded: it stays a File of the account. Null for a file that is the job's own.
 */
export function endedInput(
  { job }: JobSnapshot,
  file: File,
  { now, failed }: { now: number; failed: FailedImport | undefined },
): Partial<File> | null {
  if (!isOfCaller(file.source) || file.id === job.id) return null
  if (file.objectKey !== null) {
    const probeError = "It was not probed, since the job that needed it ended before."
    return { state: "succeeded", completedAt: now, probeError }
  }
  const failure = failed?.task.id === file.id ? failed.failure : ENDED_BEFORE
  const { code: errorCode, message: errorMessage } = failure
  return { state: "failed", completedAt: now, errorCode, errorMessage }
}

const ENDED_BEFORE: Failure = {
  code: "canceled",
  message: "It was not brought in, since the job that needed it ended before.",
  lines: [],
}
