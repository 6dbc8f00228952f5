import type { Task } from "./schema/tasks.ts"
import type { Upload } from "./schema/uploads.ts"

// Every object of a file lies under one prefix of its own that ends in "/".

/** Where everything lies that an account stores. */
export function accountPrefix(accountId: string): string {
  return `${accountId}/`
}

export function uploadObjectKey(accountId: string, uploadId: string): string {
  return `${accountId}/uploads/${uploadId}/media`
}

/** Where a task at a fence stores an output; another fence never touches it. */
export function outputObjectKey(accountId: string, attempt: TaskAttempt, key: string): string {
  return `${attemptPrefix(accountId, attempt)}${key}/media`
}

/** One dispatch of a task. */
export type TaskAttempt = { taskId: string; fence: number }

/** The prefix below which a task stores its outputs at a fence. */
export function attemptPrefix(accountId: string, { taskId, fence }: TaskAttempt): string {
  return `${accountId}/tasks/${taskId}/${fence}/`
}

/** The attempt that no dispatch is: what lies below its prefix is kept from one run to the next. */
export const RESUMABLE_FENCE = 0

/** Prefixes of a task's dispatches up to the one at `task.fence`, and of what is kept between them. */
export function attemptPrefixes(task: Pick<Task, "id" | "accountId" | "fence">): string[] {
  const fences = Array.from({ length: task.fence + 1 }, (_, fence) => fence)
  return fences.map((fence) => attemptPrefix(task.accountId, { taskId: task.id, fence }))
}

/** The prefix that holds a file's object and everything stored beside it. */
export function prefixOf(objectKey: string): string {
  return objectKey.slice(0, objectKey.lastIndexOf("/") + 1)
}

/** Where a member of a bundle lies, by the bundle's own object, which lists them. */
export function memberObjectKey(objectKey: string, name: string): string {
  return `${prefixOf(objectKey)}members/${name}`
}

/** The prefix of a job's large values, and of those of its tasks. */
export function jobPrefix(accountId: string, jobId: string): string {
  return `${accountId}/jobs/${jobId}/`
}

export function deliveryPrefix(accountId: string, deliveryId: string): string {
  return `${accountId}/deliveries/${deliveryId}/`
}

/** Where a large value of a row lies; each has an id of its own, so that none is ever replaced. */
export function valueObjectKey(prefix: string, id: string): string {
  return `${prefix}values/${id}`
}

/** Removes objects below a prefix, a thousand a page; whether none is left. */
export async function deleteSomeObjects(
  bucket: R2Bucket,
  prefix: string,
  pagesMax: number,
): Promise<boolean> {
  for (let page = 0; page < pagesMax; page += 1) {
    const { objects, truncated } = await bucket.list({ prefix })
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
    if (!truncated) return true
  }
  return false
}

/** Aborts what an upload began in R2; one that is already gone is no error. */
export async function abortUpload(bucket: R2Bucket, upload: Upload): Promise<void> {
  if (upload.multipartId === null) return
  try {
    await bucket.resumeMultipartUpload(upload.objectKey, upload.multipartId).abort()
  } catch (error) {
    if (!isUploadMissing(error)) throw error
  }
}

/** Whether R2 knows no such upload: it was aborted, or is complete. */
export function isUploadMissing(error: unknown): boolean {
  return /10024|does not exist|NoSuchUpload/i.test(String(error))
}

/** Whether R2 does not complete an upload of these parts: one is another than it has, or none. */
export function isPartWrong(error: unknown): boolean {
  return /\((?:10011|10025|10048)\)/.test(String(error))
}
