import type { Task } from "../db/schema/tasks.ts"

// The objects of a file, and no other objects, have R2 keys that begin with the file's own prefix.
// A prefix ends in "/".

/** Returns the R2 key prefix of all objects of an account. */
export function makeAccountKeyPrefix(accountId: string): string {
  return `${accountId}/`
}

export function makeUploadObjectKey(accountId: string, uploadId: string): string {
  return `${accountId}/uploads/${uploadId}/media`
}

/**
 * Returns the R2 key prefix of the tails of a tus upload. A tail is an object with the bytes after
 * the last complete part of the multipart upload.
 */
export function makeTusTailKeyPrefix(accountId: string, uploadId: string): string {
  return `${accountId}/tails/${uploadId}/`
}

/**
 * Returns the R2 key of an output that one attempt of a task stores. Different attempts write
 * different keys.
 */
export function makeOutputObjectKey(accountId: string, attempt: TaskAttempt, key: string): string {
  return `${makeAttemptKeyPrefix(accountId, attempt)}${key}/media`
}

/** Attempt to run a task: one dispatch of the task, identified by its fencing token `fence`. */
export type TaskAttempt = { taskId: string; fence: number }

/** Returns the R2 key prefix of the outputs that one attempt of a task stores. */
export function makeAttemptKeyPrefix(accountId: string, { taskId, fence }: TaskAttempt): string {
  return `${accountId}/tasks/${taskId}/${fence}/`
}

/**
 * Fencing token that no dispatch of a task gets. Objects below the prefix of this token belong to
 * resumable uploads, which later runs of the task continue.
 */
export const RESUMABLE_UPLOAD_FENCE = 0

/**
 * Returns the R2 key prefixes of all attempts of a task up to `task.fence`, and the prefix of the
 * objects that are kept between its runs.
 */
export function listAttemptKeyPrefixes(task: Pick<Task, "id" | "accountId" | "fence">): string[] {
  const fences = Array.from({ length: task.fence + 1 }, (_, fence) => fence)
  return fences.map((fence) => makeAttemptKeyPrefix(task.accountId, { taskId: task.id, fence }))
}

/** Returns the R2 key prefix of a file, from the key of the file's object. */
export function getFileKeyPrefix(objectKey: string): string {
  return objectKey.slice(0, objectKey.lastIndexOf("/") + 1)
}

/**
 * Returns the R2 key of a bundle's member. `objectKey` is the key of the bundle's own object, which
 * lists the members.
 */
export function makeMemberObjectKey(objectKey: string, name: string): string {
  return `${getFileKeyPrefix(objectKey)}members/${name}`
}

/**
 * Returns the R2 key prefix of the large values of a job and its tasks, which do not fit into their
 * rows.
 */
export function makeJobValuesKeyPrefix(accountId: string, jobId: string): string {
  return `${accountId}/jobs/${jobId}/`
}

export function makeDeliveryKeyPrefix(accountId: string, deliveryId: string): string {
  return `${accountId}/deliveries/${deliveryId}/`
}

/**
 * Returns the R2 key of a value that is too large for its row. Each value has its own id, so that
 * no value is ever overwritten.
 */
export function makeValueObjectKey(prefix: string, id: string): string {
  return `${prefix}values/${id}`
}
