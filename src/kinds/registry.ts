import type { TaskWork } from "../contract/task.ts"
import type { TaskDefinition } from "../contract/tasks/definition.ts"
import { command } from "./command/kind.ts"
import { fetch } from "./fetch/kind.ts"
import { ffmpeg } from "./ffmpeg/kind.ts"
import { file } from "./file/kind.ts"
import { metadata } from "./metadata/kind.ts"
import { normalize } from "./normalize/kind.ts"
import { fileUrl } from "./file-links.ts"
import { viewJobWith } from "./job-record.ts"
import type { JobRecord } from "./job-record.ts"
import type { Progress } from "../rpc.ts"
import type { Retention } from "../retention.ts"
import type { AnyJsonKind, Kind } from "./kind.ts"
import { transcode } from "./transcode/kind.ts"
import { transcribe } from "./transcribe/kind.ts"
import type { Job, JobResult } from "../storage/schema/jobs.ts"
import type { JobSnapshot } from "../storage/transitions.ts"

/** Every kind of job; one line each makes it known to routes, pipeline, webhooks and health. */
const KINDS: readonly (Kind | AnyJsonKind)[] = [
  // One line for each.
  file,
  command,
  fetch,
  metadata,
  normalize,
  transcribe,
  transcode,
  ffmpeg,
]

const kinds = new Map<string, Kind>(KINDS.map((kind) => [kind.name, kind]))

const taskDefinitions = new Map<string, TaskDefinition>(
  KINDS.flatMap((kind) => kind.tasks.map((task) => [task.name, task] as const)),
)

const LISTED_KINDS: readonly Kind[] = KINDS.filter(({ isUnlisted = false }) => !isUnlisted)

/** The kinds whose jobs callers see. */
export const KIND_NAMES: readonly string[] = LISTED_KINDS.map(({ name }) => name)

/** The kinds whose jobs nobody sees. */
export const UNLISTED_KINDS: readonly string[] = KINDS.flatMap(({ name, isUnlisted = false }) =>
  isUnlisted ? [name] : [],
)

/** The kinds whose routes are made from their schemas alone. */
export const JSON_KINDS = KINDS.filter((kind) => "withTypes" in kind)

/** Every kind of task that jobs of some kind consist of. */
export const TASK_DEFINITIONS: readonly TaskDefinition[] = [...taskDefinitions.values()]

/** The kind of a stored job; throws where this version of the service has none such. */
export function kindOf(name: string): Kind {
  const kind = findKind(name)
  if (!kind) throw new Error(`there is no kind of job "${name}"`)
  return kind
}

/** The kind of a stored job; null where this version of the service has none such. */
export function findKind(name: string): Kind | null {
  return kinds.get(name) ?? null
}

/** The definition of a kind of task; null where no kind of job has such tasks. */
export function findTaskDefinition(name: string): TaskDefinition | null {
  return taskDefinitions.get(name) ?? null
}

/** The pool that does a stored task; throws where this version has no such kind of task. */
export function poolOfTask({ pool, work }: { pool: string | null; work: TaskWork | null }): string {
  if (pool !== null) return pool
  if (work === null) throw new Error("a task has neither a pool nor its work")
  const definition = findTaskDefinition(work.kind)
  if (!definition) throw new Error(`there is no kind of task "${work.kind}"`)
  return definition.pool(definition.work.parse(work))
}

/** A job of any kind as the Job record. */
export function viewJob(base: string, job: Job, progress: Progress | null): JobRecord {
  return viewJobWith(base, job, progress, (output) => outputUrl(base, job, output))
}

/** The record that tells of the end of a job, as GET answers it under the origin that its caller knows. */
export function recordOf({ job, files }: JobSnapshot, retention: Retention): object {
  if (job.webhookForm === "job") return viewJob(`${job.origin}/v1`, job, null)
  return kindOf(job.kind).view(`${job.origin}/v1`, { job, files }, null, retention)
}

/** The address of an output of a job: a File's, where its kind has no other. */
function outputUrl(
  base: string,
  job: Pick<Job, "id" | "kind">,
  { key, fileId, name }: JobResult["outputs"][number],
): string {
  const own = findKind(job.kind)?.outputUrl?.(base, job.id, { key, name }) ?? null
  return own ?? fileUrl(base, { id: fileId, name })
}
