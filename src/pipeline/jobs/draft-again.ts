import { importTask } from "../../contract/tasks/import.ts"
import { probeTask } from "../../contract/tasks/probe.ts"
import { newId } from "../../ids.ts"
import { nameOfSource } from "../../kinds/import-url.ts"
import { kindOf, poolOfTask } from "../../kinds/registry.ts"
import { draftInputs, draftJob, draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft, JobFacts } from "../../storage/job-drafts.ts"
import type { File } from "../../storage/schema/files.ts"
import type { Job } from "../../storage/schema/jobs.ts"
import { isFinal } from "../../storage/schema/states.ts"
import type { Task } from "../../storage/schema/tasks.ts"
import type { TaskInputRow } from "../../storage/tasks.ts"
import type { JobSnapshot } from "../../storage/transitions.ts"

/** Whether an input of a job is no longer there; what the job makes or brings in comes anew. */
export function isGone({ fileId, file }: TaskInputRow, { job, tasks }: JobSnapshot): boolean {
  if (file?.jobId === job.id || tasks.some((task) => isImport(task) && task.id === fileId)) {
    return false
  }
  return !file || (isFinal(file.state) && file.objectKey === null)
}

/** A job with its tasks and files to come once more, all under ids of their own. */
export function draftAgain(before: JobSnapshot, inputs: TaskInputRow[]): JobDraft {
  const { job, files } = before
  const id = newId()
  const facts: JobFacts = { ...job, now: Date.now(), retryOf: job.id }
  const tasks = before.tasks
    .filter((task) => !isProbeOfUpload(task, job, inputs))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  // What is brought in has the id of its task, which is that of its job where it is the job's own.
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
      return draftOutput(facts, { jobId: id, outputKey: key, name, source })
    })
  function inputAgain(input: TaskInputRow) {
    const source = imports.get(input.fileId)
    if (source) return { ...input, fileId: source.id, source }
    if (isUploadWith(job, input.file)) return { ...input, awaitsProbe: false }
    const own = files.find((file) => file.id === input.fileId)
    if (!own) return input
    const output = outputs.find((file) => file.outputKey === own.outputKey)
    // What another task of the job makes is still to come.
    return output ? { ...input, fileId: output.id, source: output } : { ...input, fileId: id }
  }
  function taskAgain(task: Task) {
    const own = inputs.filter((input) => input.taskId === task.id)
    return draftTask(facts, {
      id: imports.get(task.id)?.id ?? newId(),
      jobId: id,
      pool: poolOfTask(task),
      weight: task.weight,
      work: task.work,
      ...draftInputs(own.map(inputAgain)),
    })
  }
  const newIds = new Map([...imports].map(([before, { id: now }]) => [before, now]))
  const request = kindOf(job.kind).requestAgain?.(job.request, newIds) ?? job.request
  return {
    job: draftJob(facts, { id, kind: job.kind, request }),
    tasks: tasks.map(taskAgain),
    files: [...imports.values(), ...outputs],
  }
}

/** Whether a file is an upload that came with a job, and is a File of its own since that is over. */
function isUploadWith({ id }: Job, file: File | null): boolean {
  return file?.source === "upload" && file.jobId === id && file.id !== id
}

/** Whether a task probed an upload that came with the job, which was settled with it. */
function isProbeOfUpload({ id, work }: Task, job: Job, inputs: TaskInputRow[]): boolean {
  const isOfUpload = inputs.some(({ taskId, file }) => taskId === id && isUploadWith(job, file))
  return work.kind === probeTask.name && isOfUpload
}

function isImport({ work }: Task): boolean {
  return work.kind === importTask.name
}

/** The row of a file that is to be brought in from where an earlier one was. */
function draftImported(
  { files }: JobSnapshot,
  task: Task,
  made: { id: string; jobId: string; now: number },
) {
  const { url } = importTask.work.parse(task.work)
  const before = files.find((file) => file.id === task.id)
  return {
    id: made.id,
    jobId: made.jobId,
    name: nameOfSource(url),
    source: "import" as const,
    sourceUrl: before?.sourceUrl ?? url,
    state: "waiting" as const,
    createdAt: made.now,
  }
}
