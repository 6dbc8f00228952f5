import type { Failure } from "../contract/failure.ts"
import type { TaskResult } from "../contract/task.ts"
import { IMPORT_OUTPUT_KEY, importTaskDefinition } from "../contract/tasks/import.ts"
import type { ImportResult } from "../contract/tasks/import.ts"
import { probeTaskDefinition } from "../contract/tasks/probe.ts"
import type { ProbeTaskResult, ProbeWork } from "../contract/tasks/probe.ts"
import { makeOutputObjectKey, RESUMABLE_UPLOAD_FENCE } from "../domain/object-keys.ts"
import type { File } from "../db/schema/files.ts"
import type { Task } from "../db/schema/tasks.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import { sanitizeFileName } from "./file-name.ts"

// The functions of this file apply the results of imports and probes of inputs, in jobs of every
// kind.

/** Column values to change in the rows of files and tasks after an import or a probe. */
export type InputColumnChanges = {
  files: { id: string; set: Partial<File> }[]
  tasks: { id: string; set: Partial<Task> }[]
}

/**
 * Reports whether a task imports or probes a file. All other tasks are specific to the job's kind.
 */
export function isImportOrProbeTask({ work }: Task): boolean {
  return work.kind === importTaskDefinition.name || work.kind === probeTaskDefinition.name
}

/**
 * Returns the changes of files and tasks for the result of an import or a probe. `now` is the time
 * at which the task ended, in milliseconds.
 */
export function computeInputColumnChanges(
  snapshot: JobSnapshot,
  { task, result }: { task: Task; result: TaskResult },
  now: number,
): InputColumnChanges {
  if (task.work.kind === importTaskDefinition.name) {
    return finishImport(snapshot, task, importTaskDefinition.result.parse(result))
  }
  return finishProbe(snapshot, task, probeTaskDefinition.result.parse(result), now)
}

/**
 * Returns the result of an optional probe that failed, with the probe's error, so that the job
 * continues. Returns null if the job cannot continue without the task.
 */
export function toOptionalProbeResult({ work }: Task, failure: Failure): TaskResult | null {
  const probe = probeTaskDefinition.work.safeParse(work)
  if (!probe.success || !probe.data.is_optional) return null
  return {
    kind: probeTaskDefinition.name,
    probe_error: failure.message,
    probe_lines: failure.lines.join("\n"),
  }
}

/**
 * Returns the new column values of an imported file, and of probe tasks that wait for the file. The
 * size of the file is now known, and decides which pool of runners probes the file.
 */
function finishImport(snapshot: JobSnapshot, task: Task, result: ImportResult): InputColumnChanges {
  const { accountId, id: taskId } = task
  const fence = result.is_resumable ? RESUMABLE_UPLOAD_FENCE : task.fence
  const set = {
    name: sanitizeFileName(result.name),
    sizeBytes: result.size_bytes,
    contentType: result.content_type,
    sha256: result.sha256 ?? null,
    objectKey: makeOutputObjectKey(accountId, { taskId, fence }, IMPORT_OUTPUT_KEY),
  }
  const probes = snapshot.tasks.filter(({ id, work, state }) => {
    const isOfFile = snapshot.inputs.some((each) => each.taskId === id && each.fileId === taskId)
    return isOfFile && work.kind === probeTaskDefinition.name && state === "waiting"
  })
  return {
    files: [{ id: taskId, set }],
    tasks: probes.map(({ id, work: { is_optional } }) => {
      const work: ProbeWork = {
        kind: probeTaskDefinition.name,
        input_bytes: result.size_bytes,
        is_optional: is_optional === true,
      }
      return { id, set: { work, pool: probeTaskDefinition.pool(work) } }
    }),
  }
}

function finishProbe(
  snapshot: JobSnapshot,
  task: Task,
  { probe, probe_error: message, probe_lines: lines }: ProbeTaskResult,
  now: number,
): InputColumnChanges {
  const input = snapshot.inputs.find(({ taskId }) => taskId === task.id)
  if (!input) return { files: [], tasks: [] }
  const set =
    message === undefined
      ? { state: "succeeded" as const, ...(probe && { probe }) }
      : { state: "failed" as const, ...toProbeFailureColumns(message, lines) }
  return { files: [{ id: input.fileId, set: { ...set, completedAt: now } }], tasks: [] }
}

/**
 * Returns the column values of a stored file that ffprobe cannot read as media. `lines` has the
 * lines of ffprobe's output.
 */
export function toProbeFailureColumns(message: string, lines: string | undefined) {
  const probeError = (lines || message).slice(0, PROBE_ERROR_LENGTH_MAX)
  return { errorCode: "probe_failed" as const, errorMessage: message, probeError }
}

const PROBE_ERROR_LENGTH_MAX = 1000
