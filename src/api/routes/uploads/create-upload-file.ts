import { findFile } from "../../../db/files/files.ts"
import {
  findTusUpload,
  listOpenTusUploadsOfLink,
  markTusUploadFinished,
  removeTusUploadParts,
} from "../../../db/files/tus-uploads.ts"
import { claimUploadLink, releaseUploadLink } from "../../../db/files/upload-links.ts"
import { draftUploadJob } from "../../../kinds/file/plan.ts"
import { completeTusObject, removeTusUpload } from "../../../objects/tus-object.ts"
import { toHex } from "../../../platform/crypto/hex.ts"
import type { AppContext } from "../../context.ts"
import { acceptCreateRequest, readJobProperties } from "../../input/accept.ts"
import { notFoundProblem, Problem } from "../../output/problem.ts"

/**
 * Creates the File of a tus upload whose bytes are all stored; the File has the upload's id. A
 * repeated or concurrent call creates no second File. Throws an error if the File would exceed a
 * limit of the account; the upload stays, and a later request can create the File.
 */
export async function createFileOfUpload(
  c: AppContext,
  id: string,
  sha256: Uint8Array | null = null,
): Promise<void> {
  const database = c.get("database")
  const found = await findTusUpload(database, id)
  if (!found) throw notFoundProblem("upload")
  const { row, upload } = found
  // If no row in `uploads` is left, the stored object already belongs to the File of the upload.
  if (!upload) return
  const isComplete = await completeTusObject(c.env, { row, upload })
  if (!isComplete || !(await markTusUploadFinished(database, id, Date.now()))) {
    throw notFoundProblem("upload")
  }
  const { name, contentType, sizeBytes, fields } = row
  const stored = { upload, name, contentType, sizeBytes, sha256: sha256 && toHex(sha256) }
  try {
    await createFileByUploadLink(c, { linkId: row.linkId, fileId: id }, async () => {
      const draft = draftUploadJob(stored, readJobProperties(c, fields), id)
      return await acceptCreateRequest(c, { identity: null }, async () => draft)
    })
  } catch (error) {
    // Another request may have created the File meanwhile.
    if (!(await findFile(database, id))) {
      await markTusUploadFinished(database, id, null)
      throw error
    }
  }
  await removeTusUploadParts(database, id, Date.now())
}

/**
 * Calls `create`, which creates a File by an upload link. Marks the link as used, and removes the
 * link's other uploads. Frees the link if no File is created. Calls only `create` if `linkId` is
 * null.
 */
export async function createFileByUploadLink<Created>(
  c: AppContext,
  { linkId, fileId }: { linkId: string | null; fileId: string },
  create: () => Promise<Created>,
): Promise<Created> {
  if (linkId === null) return await create()
  const database = c.get("database")
  if (!(await claimUploadLink(database, linkId, fileId))) throw uploadLinkUsedProblem()
  try {
    const created = await create()
    c.executionCtx.waitUntil(removeOpenUploadsOfLink(c, linkId))
    return created
  } catch (error) {
    if (!(await findFile(database, fileId))) await releaseUploadLink(database, linkId, fileId)
    throw error
  }
}

/** Removes the unfinished uploads of an upload link that can no longer take a File. */
export async function removeOpenUploadsOfLink(c: AppContext, linkId: string): Promise<void> {
  for (const row of await listOpenTusUploadsOfLink(c.get("database"), linkId)) {
    await removeTusUpload(c.env, row, { now: Date.now(), isForced: false })
  }
}

/** Returns the 410 error for an upload link that another upload has used. */
export function uploadLinkUsedProblem(): Problem {
  return new Problem("link_used", "The link was used by another upload; ask for a new link.")
}
