import type { PrivateHeaders } from "../contract/urls/private-headers.ts"
import { importTaskDefinition } from "../contract/tasks/import.ts"
import { probeTaskDefinition } from "../contract/tasks/probe.ts"
import { newId } from "../platform/ids.ts"
import { fileNameFromImportUrl } from "../kinds/import-url.ts"
import { draftImportedFile } from "../kinds/imports.ts"
import { listNeededJobIds } from "./chains.ts"
import { getKind } from "../kinds/registry.ts"
import { draftInputs, draftJobRow, draftOutputFile, draftTask } from "../domain/job-draft.ts"
import type { JobDraft, JobProperties } from "../domain/job-draft.ts"
import type { File } from "../db/schema/files.ts"
import type { Job } from "../db/schema/jobs.ts"
import { isFinalState } from "../domain/states.ts"
import type { Task } from "../db/schema/tasks.ts"
import type { TaskInputWithFile } from "../db/jobs/tasks.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"

/**
 * Reports whether an input of a job no longer exists. Outputs and imports of the same job do not
 * count as missing, because the retry creates them again.
 */
export function isRetryInputGone(
  { fileId, file }: TaskInputWithFile,
  { job, tasks }: JobSnapshot,
): boolean {
  if (file?.jobId === job.id || tasks.some((task) => isImport(task) && task.id === fileId)) {
    return false
  }
  return !file || (isFinalState(file.state) && file.objectKey === null)
}

/**
 * Drafts a job that repeats the tasks and files of an earlier job under new ids. `replacedIds` maps
 * the ids of jobs and files in the earlier request to the ids that replace them in the retry.
 */
export function draftRetry(
  before: JobSnapshot,
  inputs: TaskInputWithFile[],
  headers: ReadonlyMap<string, PrivateHeaders>,
  replacedIds: ReadonlyMap<string, string> = new Map(),
): JobDraft {
  const { job, files } = before
  const id = newId()
  const facts: JobProperties = { ...job, now: Date.now(), retryOf: job.id }
  const tasks = before.tasks
    .filter((task) => !isProbeOfUpload(task, job, inputs))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  // Gives each imported file a new id, which is also the id of its import task. In a job that only
  // imports a file, the job, the task and the file have the same id.
  const imports = new Map(
    tasks.filter(isImport).map((task) => {
      const fileId = task.id === job.id ? id : newId()
      return [task.id, draftImported(before, task, { jobId: id, id: fileId, now: facts.now })]
    }),
  )
  const outputs = tasks
    .filter((task) => !isImport(task))
    .flatMap(({ work }) => work.outputs ?? [])
    .map(({ key, name }) => {
      const source = files.find((file) => file.outputKey === key)?.source ?? "output"
      return draftOutputFile(facts, { jobId: id, outputKey: key, name, source })
    })
  function inputAgain(input: TaskInputWithFile) {
    const source = imports.get(input.fileId)
    if (source) return { ...input, fileId: source.id, source }
    if (isUploadWith(job, input.file)) return { ...input, awaitsProbe: false }
    const own = files.find((file) => file.id === input.fileId)
    if (!own) return input
    const output = outputs.find((file) => file.outputKey === own.outputKey)
    // The input is an output of another task of the job, or else the file that has the same id as
    // the job.
    return output ? { ...input, fileId: output.id, source: output } : { ...input, fileId: id }
  }
  function taskAgain(task: Task) {
    const own = inputs.filter((input) => input.taskId === task.id)
    const anew = headers.get(task.id)
    return draftTask(facts, {
      id: imports.get(task.id)?.id ?? newId(),
      jobId: id,
      pool: task.pool,
      weight: task.weight,
      work: task.work,
      ...draftInputs(own.map(inputAgain)),
      secrets: anew ? { headers: anew } : null,
    })
  }
  const importIds = [...imports].map(([before, { id: now }]) => [before, now] as const)
  const newIds = new Map([...replacedIds, ...importIds])
  const earlier = replaceReferences(job.request, replacedIds)
  const request = getKind(job.kind).retryRequest?.(earlier, newIds) ?? earlier
  return {
    job: { ...draftJobRow(facts, { id, kind: job.kind, request }), ...requestWarnings(job) },
    tasks: tasks.map(taskAgain),
    files: [...imports.values(), ...outputs],
    neededJobIds: listNeededJobIds(inputs),
  }
}

/** Returns a stored request whose references name the jobs and files of a retry. */
function replaceReferences(request: unknown, newIds: ReadonlyMap<string, string>): unknown {
  if (newIds.size === 0) return request
  const text = JSON.stringify(request).replaceAll(
    /svc_id:\/\/([0-9a-f-]{36})/gi,
    (_reference, id: string) => `svc_id://${newIds.get(id.toLowerCase()) ?? id}`,
  )
  return JSON.parse(text)
}

/**
 * Returns the warnings that a retry keeps: those about the request. The new run determines the
 * warnings about outputs.
 */
function requestWarnings({ warnings }: Job): Pick<Job, "warnings"> | null {
  const kept = warnings?.filter(({ code }) => code === "unused_input") ?? []
  return kept.length > 0 ? { warnings: kept } : null
}

/**
 * Reports whether a file was uploaded with the request of a job. After the job's end, such a file
 * belongs to the account and no longer to the job.
 */
function isUploadWith({ id }: Job, file: File | null): boolean {
  return file?.source === "upload" && file.jobId === id && file.id !== id
}

/**
 * Reports whether a task probed a file that was uploaded with the job. The retry needs no such
 * task, because the file already has its probe.
 */
function isProbeOfUpload({ id, work }: Task, job: Job, inputs: TaskInputWithFile[]): boolean {
  const isOfUpload = inputs.some(({ taskId, file }) => taskId === id && isUploadWith(job, file))
  return work.kind === probeTaskDefinition.name && isOfUpload
}

function isImport({ work }: Task): boolean {
  return work.kind === importTaskDefinition.name
}

/** Drafts the row of a file that is imported again from the same URL. */
function draftImported(
  { files }: JobSnapshot,
  task: Task,
  placement: { id: string; jobId: string; now: number },
) {
  const { url } = importTaskDefinition.work.parse(task.work)
  const before = files.find((file) => file.id === task.id)
  const { now, ...ids } = placement
  const sourceUrl = before?.sourceUrl ?? url
  return draftImportedFile({ now }, { ...ids, name: fileNameFromImportUrl(url), sourceUrl })
}
