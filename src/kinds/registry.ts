import type { TaskDefinition } from "../contract/tasks/definition.ts"
import { commandKind } from "./command/kind.ts"
import { fetchKind } from "./fetch/kind.ts"
import { ffmpegKind } from "./ffmpeg/kind.ts"
import { fileKind } from "./file/kind.ts"
import { metadataKind } from "./metadata/kind.ts"
import { normalizeKind } from "./normalize/kind.ts"
import { buildJobRecordWithOutputUrls } from "./job-record.ts"
import type { JobRecord } from "./job-record.ts"
import type { Progress } from "../domain/progress.ts"
import type { RetentionSettings } from "../domain/retention.ts"
import type { AnyJsonKind, Kind } from "./kind.ts"
import { transcodeKind } from "./transcode/kind.ts"
import { transcribeKind } from "./transcribe/kind.ts"
import type { Job } from "../db/schema/jobs.ts"
import type { WebhookForm } from "../domain/states.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"

/** All kinds of job. Routes, pipeline, webhooks and health checks use this list. */
const KINDS: readonly (Kind | AnyJsonKind)[] = [
  fileKind,
  commandKind,
  fetchKind,
  metadataKind,
  normalizeKind,
  transcribeKind,
  transcodeKind,
  ffmpegKind,
]

const kinds = new Map<string, Kind>(KINDS.map((kind) => [kind.name, kind]))

const taskDefinitions = new Map<string, TaskDefinition>(
  KINDS.flatMap((kind) => kind.tasks.map((task) => [task.name, task] as const)),
)

const LISTED_KINDS: readonly Kind[] = KINDS.filter(({ isUnlisted = false }) => !isUnlisted)

/** Names of the kinds whose jobs appear in lists of jobs. */
export const JOB_LIST_KIND_NAMES: readonly string[] = LISTED_KINDS.map(({ name }) => name)

/** Names of the kinds whose jobs are internal, so that no list contains them. */
export const INTERNAL_KIND_NAMES: readonly string[] = KINDS.flatMap(
  ({ name, isUnlisted = false }) => (isUnlisted ? [name] : []),
)

/** Kinds whose requests are JSON and whose routes are generated from their schemas. */
export const JSON_KINDS = KINDS.filter((kind) => "withTypes" in kind)

/** Definitions of the tasks of all kinds. Each definition occurs once. */
export const TASK_DEFINITIONS: readonly TaskDefinition[] = [...taskDefinitions.values()]

/** Returns the kind with a name. Throws if this version of the service has no such kind. */
export function getKind(name: string): Kind {
  const kind = findKind(name)
  if (!kind) throw new Error(`unknown kind of job: "${name}"`)
  return kind
}

/** Returns the kind with a name; null if this version of the service has no such kind. */
export function findKind(name: string): Kind | null {
  return kinds.get(name) ?? null
}

/** Returns a kind with generated routes by its name; null if there is no such kind. */
export function findJsonKind(name: string): AnyJsonKind | null {
  return JSON_KINDS.find((kind) => kind.name === name) ?? null
}

/** Returns the definition of a task by its name; null if no kind of job has such tasks. */
export function findTaskDefinition(name: string): TaskDefinition | null {
  return taskDefinitions.get(name) ?? null
}

/** Builds the Job record of a job of any kind. */
export function buildJobRecordOfAnyKind(
  base: string,
  job: Job,
  progress: Progress | null,
): JobRecord {
  const kind = findKind(job.kind)
  return buildJobRecordWithOutputUrls(base, job, progress, (output) => {
    return kind?.outputUrl?.(base, job.id, output) ?? null
  })
}

/**
 * Builds the record of a finished job for its webhooks: the common Job record if `form` is `job`,
 * else the record of the job's kind. URLs in the record have the origin at which the caller created
 * the job.
 */
export function buildWebhookRecord(
  { job, files }: JobSnapshot,
  form: WebhookForm,
  retention: RetentionSettings,
): object {
  if (form === "job") return buildJobRecordOfAnyKind(`${job.origin}/v1`, job, null)
  return getKind(job.kind).view(`${job.origin}/v1`, { job, files }, null, retention)
}
