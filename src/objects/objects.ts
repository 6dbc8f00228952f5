import type { Upload } from "../db/schema/uploads.ts"

/** Deletes up to `pagesMax` pages of objects below a prefix. Returns true if no object remains. */
export async function deleteObjectsBelowPrefix(
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

/** Aborts the multipart upload in R2. Succeeds if R2 has no such upload. */
export async function abortMultipartUpload(bucket: R2Bucket, upload: Upload): Promise<void> {
  if (upload.multipartId === null) return
  try {
    await bucket.resumeMultipartUpload(upload.objectKey, upload.multipartId).abort()
  } catch (error) {
    if (!isMissingUploadError(error)) throw error
  }
}

/**
 * Reports whether an error means that R2 has no such multipart upload, because it was aborted or
 * completed.
 */
export function isMissingUploadError(error: unknown): boolean {
  return /10024|does not exist|NoSuchUpload/i.test(String(error))
}

/**
 * Reports whether an error means that R2 refused to complete an upload because of a wrong or
 * missing part.
 */
export function isWrongPartError(error: unknown): boolean {
  return /\((?:10011|10025|10048)\)/.test(String(error))
}
