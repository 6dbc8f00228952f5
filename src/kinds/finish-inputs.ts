import type { Failure } from "../contract/failure.ts"
import type { TaskResult } from "../contract/task.ts"
import { IMPORT_KEY, importTask } from "../contract/tasks/import.ts"
import type { ImportResult } from "../contract/tasks/import.ts"
import { probeTask } from "../contract/tasks/probe.ts"
import type { ProbeTaskResult, ProbeWork } from "../contract/tasks/probe.ts"
import { outputObjectKey, RESUMABLE_FENCE } from "../storage/objects.ts"
import type { File } from "../storage/schema/files.ts"
import type { Task } from "../storage/schema/tasks.ts"
import type { JobSnapshot } from "../storage/transitions.ts"
import { fileNameOf } from "./file-name.ts"

// Imports and probes are steps of jobs of every kind, and mean the same to each.

/** What the end of an import or of a probe changes beside its own task. */
export type InputFinish = {
  files: { id: string; set: Partial<File> }[]
  tasks: { id: string; set: Partial<Task> }[]
}

/** Whether a task brings in a file or probes one; all others are of the kind of their job. */
export function isOfInput({ work }: Task): boolean {
  return work.kind === importTask.name || work.kind === probeTask.name
}

/** What the result of an import or a probe means for its file; `now` is the moment of its end. */
export function finishInput(
  snapshot: JobSnapshot,
  { task, result }: { task: Task; result: TaskResult },
  now: number,
): InputFinish {
  if (task.work.kind === importTask.name) {
    return finishImport(snapshot, task, importTask.result.parse(result))
  }
  return finishProbe(snapshot, task, probeTask.result.parse(result), now)
}

/** The result of a task whose job goes on without it; null where the job needs it. */
export function resultWithout({ work }: Task, { message }: Failure): TaskResult | null {
  const probe = probeTask.work.safeParse(work)
  if (!probe.success || !probe.data.is_optional) return null
  return { kind: probeTask.name, probe_error: message }
}

/** The file is stored, and comes to its end with its probe, which may need a larger runner now. */
function finishImport(snapshot: JobSnapshot, task: Task, result: ImportResult): InputFinish {
  const { accountId, id: taskId } = task
  const fence = result.is_resumable ? RESUMABLE_FENCE : task.fence
  const set = {
    name: fileNameOf(result.name),
    sizeBytes: result.size_bytes,
    contentType: result.content_type,
    sha256: result.sha256 ?? null,
    objectKey: outputObjectKey(accountId, { taskId, fence }, IMPORT_KEY),
  }
  const probes = snapshot.tasks.filter(({ id, work, state }) => {
    const isOfFile = snapshot.inputs.some((each) => each.taskId === id && each.fileId === taskId)
    return isOfFile && work.kind === probeTask.name && state === "waiting"
  })
  return {
    files: [{ id: taskId, set }],
    tasks: probes.map(({ id, work: { is_optional } }) => {
      const work: ProbeWork = {
        kind: probeTask.name,
        input_bytes: result.size_bytes,
        is_optional: is_optional === true,
      }
      return { id, set: { work, pool: probeTask.pool(work) } }
    }),
  }
}

function finishProbe(
  snapshot: JobSnapshot,
  task: Task,
  { probe, probe_error: probeError }: ProbeTaskResult,
  now: number,
): InputFinish {
  const input = snapshot.inputs.find(({ taskId }) => taskId === task.id)
  if (!input) return { files: [], tasks: [] }
  const set = probe
    ? { state: "succeeded" as const, completedAt: now, probe }
    : { ...failedProbe(probeError ?? "It was not probed."), completedAt: now }
  return { files: [{ id: input.fileId, set }], tasks: [] }
}

/** Facts of a file that is stored and can be used, and is no media. */
function failedProbe(message: string) {
  const errorCode = "probe_failed" as const
  return { state: "failed" as const, errorCode, errorMessage: message, probeError: message }
}
