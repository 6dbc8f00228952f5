import type { Task } from "../db/schema/tasks.ts"

// Each file has its own prefix of R2 keys, ending in "/", that holds all its objects.

/** Prefix of all objects of an account. */
export function accountPrefix(accountId: string): string {
  return `${accountId}/`
}

export function uploadObjectKey(accountId: string, uploadId: string): string {
  return `${accountId}/uploads/${uploadId}/media`
}

/** Prefix of the tails of a tus upload: bytes that do not fill a part of its multipart upload yet. */
export function tailPrefix(accountId: string, uploadId: string): string {
  return `${accountId}/tails/${uploadId}/`
}

/** Key of an output that one attempt of a task stores; each attempt writes other keys. */
export function outputObjectKey(accountId: string, attempt: TaskAttempt, key: string): string {
  return `${attemptPrefix(accountId, attempt)}${key}/media`
}

/** Attempt to run a task: one dispatch, which its fencing token `fence` identifies. */
export type TaskAttempt = { taskId: string; fence: number }

/** Prefix of the outputs that one attempt of a task stores. */
export function attemptPrefix(accountId: string, { taskId, fence }: TaskAttempt): string {
  return `${accountId}/tasks/${taskId}/${fence}/`
}

/** Fencing token of no dispatch; objects below its prefix are kept between runs of a task. */
export const RESUMABLE_FENCE = 0

/** Prefixes of all attempts of a task up to `task.fence`, and of its resumable objects. */
export function attemptPrefixes(task: Pick<Task, "id" | "accountId" | "fence">): string[] {
  const fences = Array.from({ length: task.fence + 1 }, (_, fence) => fence)
  return fences.map((fence) => attemptPrefix(task.accountId, { taskId: task.id, fence }))
}

/** Prefix of a file's object and of all objects stored beside it. */
export function objectPrefix(objectKey: string): string {
  return objectKey.slice(0, objectKey.lastIndexOf("/") + 1)
}

/** Key of a bundle's member, from the key of the bundle's own object, which lists the members. */
export function memberObjectKey(objectKey: string, name: string): string {
  return `${objectPrefix(objectKey)}members/${name}`
}

/** Prefix of the values of a job and its tasks that are too large for their rows. */
export function jobValuesPrefix(accountId: string, jobId: string): string {
  return `${accountId}/jobs/${jobId}/`
}

export function deliveryPrefix(accountId: string, deliveryId: string): string {
  return `${accountId}/deliveries/${deliveryId}/`
}

/** Key of a value too large for its row. Each value has its own id and is never overwritten. */
export function valueObjectKey(prefix: string, id: string): string {
  return `${prefix}values/${id}`
}
