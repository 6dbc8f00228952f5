import { findUploadLink } from "../../../db/files/upload-links.ts"
import type { UploadLink } from "../../../db/schema/uploads.ts"
import { sanitizeFileName } from "../../../kinds/file-name.ts"
import { draftUploadJob } from "../../../kinds/file/plan.ts"
import { newId } from "../../../platform/ids.ts"
import type { AppContext } from "../../context.ts"
import { acceptCreateRequest, readJobProperties } from "../../input/accept.ts"
import type { CreatedJob } from "../../input/accept.ts"
import { receiveFileForm } from "../../input/file-forms.ts"
import type { FileForm } from "../../input/file-forms.ts"
import { detectContentType } from "../../input/multipart.ts"
import {
  notFoundProblem,
  invalidFieldProblem,
  invalidFieldsProblem,
  Problem,
} from "../../output/problem.ts"
import { uploadLinkUsedProblem, createFileByUploadLink } from "./create-upload-file.ts"
import { TYPE_DETECTION_BYTES, requireTypeAllowedByLink } from "./file-types.ts"
import { insertUploadWithinLimits, receiveInitialBytes } from "./tus.ts"

/**
 * Handles a PUT to an upload link: the body is the file, and the query parameter `filename` is its
 * name.
 */
export async function receivePutByUploadLink(c: AppContext): Promise<Response> {
  const announced = c.req.header("content-length")
  if (announced === undefined) {
    throw invalidFieldProblem("Content-Length", "expected the size of the file in bytes")
  }
  const sizeBytes = Number(announced)
  if (sizeBytes === 0) throw invalidFieldProblem("body", "the file is empty")
  const name = sanitizeFileName(c.req.query("filename") ?? "")
  const contentType = detectContentType(name, c.req.header("content-type"))
  const link = requireLink(c)
  const metadata = { name, contentType, fields: link.fields, header: "" }
  const { id } = await insertUploadWithinLimits(c, { sizeBytes, metadata })
  try {
    await receiveInitialBytes(c, id)
  } catch (error) {
    throw await toLinkProblem(c, link.id, error)
  }
  return c.json({ id }, 201)
}

/**
 * Converts the error of an upload that was removed because of its link: another upload has used the
 * link, or the link was deleted. Returns all other errors unchanged.
 */
async function toLinkProblem(c: AppContext, linkId: string, error: unknown): Promise<unknown> {
  const isRemoved =
    error instanceof Problem && (error.code === "upload_taken_over" || error.code === "not_found")
  if (!isRemoved) return error
  const link = await findUploadLink(c.get("database"), linkId)
  if (!link) return notFoundProblem("upload link")
  return link.fileId === null ? error : uploadLinkUsedProblem()
}

/** Handles a multipart POST to an upload link: the form has only the field `file`. */
export async function receiveFormByUploadLink(c: AppContext): Promise<Response> {
  const link = requireLink(c)
  if (link.fileId !== null) throw uploadLinkUsedProblem()
  const { jobId: id } = await receiveFileForm(
    c,
    async (form) => await createLinkedFile(c, link, form),
  )
  return c.json({ id }, 201)
}

async function createLinkedFile(
  c: AppContext,
  link: UploadLink,
  { fields, storeFile }: FileForm,
): Promise<CreatedJob> {
  const unknown = Object.keys(fields).map((field) => ({
    field,
    message: "unknown field; the link takes only a file, as the field `file`",
  }))
  if (unknown.length > 0) throw invalidFieldsProblem(unknown)
  if (!storeFile) throw invalidFieldProblem("file", "expected a file")
  const stored = await storeFile()
  const range = { offset: 0, length: TYPE_DETECTION_BYTES }
  const start = await c.env.MEDIA.get(stored.upload.objectKey, { range })
  await requireTypeAllowedByLink(c, new Uint8Array((await start?.arrayBuffer()) ?? []))
  const id = newId()
  return await createFileByUploadLink(c, { linkId: link.id, fileId: id }, async () => {
    const draft = draftUploadJob(stored, readJobProperties(c, link.fields), id)
    return await acceptCreateRequest(c, { identity: null }, async () => draft)
  })
}

function requireLink(c: AppContext): UploadLink {
  const link = c.get("uploadLink")
  if (!link) throw notFoundProblem("upload link")
  return link
}
