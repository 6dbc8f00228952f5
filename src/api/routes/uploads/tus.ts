import { z } from "zod"
import { PLAN_LIMIT_REMEDY } from "../../../contract/plan-limit-remedy.ts"
import { findFile } from "../../../db/files/files.ts"
import type { TusUploadWithObjectRow } from "../../../db/files/tus-uploads.ts"
import {
  OPEN_TUS_UPLOADS_MAX,
  findTusUpload,
  insertTusUpload,
  listOpenTusUploads,
  readStorageReservations,
} from "../../../db/files/tus-uploads.ts"
import { makeUploadObjectKey } from "../../../domain/object-keys.ts"
import { dateTimeSchema, toDateTime } from "../../../kinds/shared-record-fields.ts"
import { removeTusUpload } from "../../../objects/tus-object.ts"
import { TUS_UPLOAD_IDLE_MS_MAX, computeTusPartBytes } from "../../../objects/tus-writer.ts"
import { newId } from "../../../platform/ids.ts"
import type { AppContext } from "../../context.ts"
import { readJobProperties } from "../../input/accept.ts"
import { fileTooLargeProblem } from "../../input/multipart.ts"
import { getBaseUrl } from "../../input/request.ts"
import { readPathResourceId } from "../../output/collection.ts"
import { notFoundProblem, Problem } from "../../output/problem.ts"
import { uploadLinkUsedProblem } from "./create-upload-file.ts"
import { removeUnfinishedUpload, createMissingUploadFile, receiveUploadBody } from "./receive.ts"
import type { UploadStateAfterRequest } from "./receive.ts"
import {
  TUS_BODY_MEDIA_TYPE,
  readUploadChecksum,
  readUploadLength,
  readUploadMetadata,
  readUploadOffset,
  requireTusVersion,
} from "./tus-headers.ts"
import type { UploadChecksum, UploadMetadata } from "./tus-headers.ts"

const TITLE = "upload"

/** Schema of a tus upload in JSON responses, in addition to the headers of tus. */
export const uploadRecordSchema = z
  .object({
    id: z.uuid().meta({ description: "Id of the upload, and of the File that it becomes." }),
    name: z.string(),
    content_type: z.string(),
    size_bytes: z.int(),
    offset_bytes: z.int().meta({ description: "Number of bytes that are stored." }),
    file_url: z.url().nullable().meta({ description: "URL of the File; null before it exists." }),
    created_at: dateTimeSchema,
    expires_at: dateTimeSchema.meta({ description: "Time of removal, unless more bytes come." }),
  })
  .meta({ id: "Upload" })

export type UploadRecord = z.infer<typeof uploadRecordSchema>

function viewUpload(c: AppContext, { row, upload }: TusUploadWithObjectRow): UploadRecord {
  const { id, name, contentType, sizeBytes, offsetBytes, createdAt, expiresAt } = row
  return {
    id,
    name,
    content_type: contentType,
    size_bytes: sizeBytes,
    offset_bytes: offsetBytes,
    file_url: upload ? null : fileUrl(c, id),
    created_at: toDateTime(createdAt),
    expires_at: toDateTime(expiresAt),
  }
}

function fileUrl(c: AppContext, id: string): string {
  return `${getBaseUrl(c)}/files/${id}`
}

/**
 * Creates a tus upload by the headers `Upload-Length` and `Upload-Metadata`, and stores the bytes
 * in the request's body. `place` is the URL below which the client reaches the upload.
 */
export async function createUpload(c: AppContext, place: string): Promise<Response> {
  const isWithBytes = hasBytes(c)
  if (!isWithBytes && hasUntypedBody(c)) throw wrongMediaType()
  requireTusVersion(c)
  const sizeBytes = readUploadLength(c)
  const metadata = readUploadMetadata(c)
  const checksum = readUploadChecksum(c)
  const { id, expiresAt } = await insertUploadWithinLimits(c, { sizeBytes, metadata })
  const received = isWithBytes
    ? await receiveInitialBytes(c, id, checksum)
    : { offsetBytes: 0, expiresAt, isFile: false }
  const headers = { ...progressHeaders(c, id, received), location: `${place}/${id}` }
  if (c.get("uploadLink")) return c.body(null, 201, headers)
  const found = await findTusUpload(c.get("database"), id)
  if (!found) throw notFoundProblem(TITLE)
  return c.json(viewUpload(c, found), 201, headers)
}

/**
 * Receives the bytes of the request that creates an upload. Removes the upload after an error,
 * because no client knows its URL.
 */
export async function receiveInitialBytes(
  c: AppContext,
  id: string,
  checksum: UploadChecksum | null = null,
): Promise<UploadStateAfterRequest> {
  try {
    return await receiveUploadBody(c, id, { offsetBytes: 0, checksum })
  } catch (error) {
    await removeUnfinishedUpload(c, id)
    throw error
  }
}

/** Stores a new upload without bytes. Throws an error if the upload would exceed a limit. */
export async function insertUploadWithinLimits(
  c: AppContext,
  { sizeBytes, metadata }: { sizeBytes: number; metadata: UploadMetadata },
): Promise<{ id: string; expiresAt: number }> {
  const { fileBytesMax, storageBytesMax } = c.get("limits")
  if (sizeBytes > fileBytesMax) throw fileTooLargeProblem(c, fileBytesMax)
  const link = c.get("uploadLink")
  if (link && link.fileId !== null) throw uploadLinkUsedProblem()
  const fields = link ? link.fields : metadata.fields
  // Check the webhook URL before the client sends any bytes.
  readJobProperties(c, fields)
  const id = newId()
  const now = Date.now()
  const expiresAt = now + TUS_UPLOAD_IDLE_MS_MAX
  const upload = {
    id,
    linkId: link?.id ?? null,
    name: metadata.name,
    contentType: metadata.contentType,
    fields,
    metadataHeader: metadata.header,
    sizeBytes,
    partBytes: computeTusPartBytes(sizeBytes),
    objectKey: makeUploadObjectKey(c.get("account").id, id),
    createdAt: now,
    expiresAt,
  }
  if (await insertTusUpload(c.get("database"), upload, storageBytesMax)) return { id, expiresAt }
  throw await explainRefusal(c, sizeBytes)
}

/**
 * Returns the error response for a tus upload that exceeds a limit of its account or of its upload
 * link.
 */
async function explainRefusal(c: AppContext, sizeBytes: number): Promise<Problem> {
  const { storageBytesMax } = c.get("limits")
  const { account, link: ofLink } = OPEN_TUS_UPLOADS_MAX
  const link = c.get("uploadLink")
  const found = await readStorageReservations(c.get("database"), link?.id ?? null)
  if (link && found.openUploadsOfLink >= ofLink) {
    const message = `The link has ${ofLink} unfinished uploads, of which it takes one; continue or delete one of them.`
    return new Problem("too_many_uploads", message)
  }
  if (found.openUploads >= account) {
    const message = `An account may have ${account} unfinished uploads; finish or delete some.`
    return new Problem("too_many_uploads", message)
  }
  const message = `The account stores ${found.storedBytes} bytes, its unfinished uploads reserve ${found.reservedBytes}, the request would add ${sizeBytes}, and the plan allows ${storageBytesMax}: delete files or unfinished uploads, or ${PLAN_LIMIT_REMEDY}.`
  return new Problem("storage_limit_exceeded", message)
}

/** Returns the records of the account's unfinished tus uploads, newest first. */
export async function listUploads(c: AppContext): Promise<{ body: UploadRecord[] }> {
  const found = await listOpenTusUploads(c.get("database"))
  return { body: found.map((each) => viewUpload(c, each)) }
}

/**
 * Handles GET and HEAD of an upload. Creates the File of a complete upload if the File is missing.
 */
export async function sendUploadState(c: AppContext): Promise<Response> {
  const isHead = c.req.method === "HEAD"
  if (isHead) requireTusVersion(c)
  const found = await findUpload(c)
  const { row } = found
  const isFile = !found.upload || row.offsetBytes === row.sizeBytes
  if (isFile) await createMissingUploadFile(c, found)
  const { offsetBytes, expiresAt } = row
  const headers = {
    ...progressHeaders(c, row.id, { offsetBytes, expiresAt, isFile }),
    "upload-length": String(row.sizeBytes),
    ...(row.metadataHeader !== "" && { "upload-metadata": row.metadataHeader }),
  }
  if (isHead) return c.body(null, 200, headers)
  return c.json(viewUpload(c, isFile ? { row, upload: null } : found), 200, headers)
}

/** Handles a PATCH, which adds bytes to an upload. */
export async function patchUpload(c: AppContext): Promise<Response> {
  if (!hasBytes(c)) throw wrongMediaType()
  requireTusVersion(c)
  const options = { offsetBytes: readUploadOffset(c), checksum: readUploadChecksum(c) }
  const id = readPathResourceId(c, TITLE)
  if (c.get("uploadLink")) await findUpload(c)
  const received = await receiveUploadBody(c, id, options)
  return c.body(null, 204, progressHeaders(c, id, received))
}

/** Handles a DELETE, which removes an unfinished upload with its bytes. */
export async function deleteUpload(c: AppContext): Promise<Response> {
  requireTusVersion(c)
  const found = await findUpload(c)
  const isRemoved =
    found.upload !== null &&
    (await removeTusUpload(c.env, found.row, { now: Date.now(), isForced: false }))
  if (isRemoved) return c.body(null, 204)
  const message = "The upload has become a File; delete that by DELETE /v1/files/<id>."
  throw new Problem("already_final", message)
}

/**
 * Finds the upload in the path of a request. Throws 404 for an upload of another account or of
 * another upload link.
 */
async function findUpload(c: AppContext): Promise<TusUploadWithObjectRow> {
  const found = await findTusUpload(c.get("database"), readPathResourceId(c, TITLE))
  const link = c.get("uploadLink")
  if (!found || (link && found.row.linkId !== link.id)) throw notFoundProblem(TITLE)
  // A finished upload counts as missing once its File has been deleted.
  const isGone = !found.upload && !(await findFile(c.get("database"), found.row.id))
  if (isGone) throw notFoundProblem(TITLE)
  return found
}

function wrongMediaType(): Problem {
  const message = `Bytes of an upload need the header \`Content-Type: ${TUS_BODY_MEDIA_TYPE}\`.`
  return new Problem("unsupported_media_type", message)
}

/** Reports whether a request without the tus media type has a body. */
function hasUntypedBody(c: AppContext): boolean {
  const length = c.req.header("content-length")
  return length === undefined ? c.req.header("content-type") !== undefined : length !== "0"
}

function hasBytes(c: AppContext): boolean {
  return c.req.header("content-type")?.trim().toLowerCase() === TUS_BODY_MEDIA_TYPE
}

function progressHeaders(
  c: AppContext,
  id: string,
  { offsetBytes, expiresAt, isFile }: UploadStateAfterRequest,
): Record<string, string> {
  return {
    "cache-control": "no-store",
    "upload-offset": String(offsetBytes),
    "upload-expires": new Date(expiresAt).toUTCString(),
    ...(isFile && { "content-location": fileUrl(c, id) }),
  }
}
