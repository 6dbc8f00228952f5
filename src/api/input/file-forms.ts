import type { Fault } from "../../domain/faults.ts"
import type { StoredUpload } from "../../kinds/uploads.ts"
import { createIncomingFile } from "../../objects/incoming-file.ts"
import type { IncomingFile } from "../../objects/incoming-file.ts"
import { ObjectTooShortError } from "../../objects/part-writer.ts"
import { formatCurlUpload, receiveMultipart, MULTIPART_OVERHEAD_BYTES_MAX } from "./multipart.ts"
import type { FilePart } from "./multipart.ts"
import { storageFullProblem, invalidFieldProblem } from "../output/problem.ts"
import { readIdempotencyKey } from "./request.ts"
import type { AppContext } from "../context.ts"
import { readUsedStorageBytes } from "../../db/accounts/account-limits.ts"
import { findIdempotencyKey } from "../../db/jobs/idempotency.ts"
import { exceededLimitProblem } from "../output/limit-problem.ts"
import { withUploadLease } from "./upload-lease.ts"

/**
 * Maximum size in bytes of an upload whose size is not compared with the free storage in advance.
 * The query for the free storage would cost as much as receiving such an upload.
 */
const SMALL_BYTES_MAX = 256 * 1024

/**
 * Throws 403 before the service receives an upload whose Content-Length exceeds the free storage of
 * the account. The insert of the job checks the storage again. An upload with a known
 * `Idempotency-Key` passes, because only its bytes show whether the request repeats an earlier
 * request.
 */
async function requireStorageRoom(c: AppContext): Promise<void> {
  const { storageBytesMax: allowed } = c.get("limits")
  const announced = c.req.header("content-length")
  if (announced !== undefined && Number(announced) <= SMALL_BYTES_MAX) return
  const uploadBytes = Math.max(0, Number(announced ?? 0) - MULTIPART_OVERHEAD_BYTES_MAX)
  const key = readIdempotencyKey(c)
  const database = c.get("database")
  const usedBytes = await readUsedStorageBytes(database)
  if (usedBytes + Math.max(1, uploadBytes) <= allowed) return
  if (key !== null && (await findIdempotencyKey(database, key, Date.now()))) return
  throw exceededLimitProblem({
    limit: "storage_bytes",
    allowed,
    used: usedBytes,
    asked: uploadBytes,
  })
}

/** A received multipart form: the text fields, and the file if the form has one. */
export type FileForm = {
  fields: Record<string, string>
  /**
   * Ends the write of the file to storage; throws 422 if the file is empty, 507 if the disk is
   * full.
   */
  storeFile: (() => Promise<StoredUpload>) | null
}

/**
 * Receives a multipart form, and passes the form to `make`, which creates a job or file. Deletes
 * the uploaded bytes from storage if `make` fails or returns the result of an earlier request.
 */
export async function receiveFileForm<Created extends { replayed: boolean }>(
  c: AppContext,
  make: (form: FileForm) => Promise<Created>,
): Promise<Created> {
  const hasRoom = requireStorageRoom(c)
  // Prevents an unhandled rejection: if the API key has too many open uploads, the next function
  // throws before it awaits `hasRoom`.
  hasRoom.catch(() => undefined)
  const result = withUploadLease(c, async () => {
    await hasRoom
    return await receiveForm(c, make)
  })
  // Let the request finish if the client disconnects, so that stored bytes are still deleted after
  // an error.
  c.executionCtx.waitUntil(result.catch(() => undefined))
  return await result
}

async function receiveForm<Created extends { replayed: boolean }>(
  c: AppContext,
  make: (form: FileForm) => Promise<Created>,
): Promise<Created> {
  // Refuse a malformed Idempotency-Key before reading the body.
  readIdempotencyKey(c)
  const incomings: IncomingFile[] = []
  let isOwned = false
  try {
    const { fields, file } = await receiveMultipart(c, (part) => {
      const incoming = createIncomingFile(c.env, c.get("account").id, part)
      incomings.push(incoming)
      return incoming
    })
    const [incoming] = incomings
    const storeFile = file && incoming ? () => finishFile(file, incoming) : null
    const result = await make({ fields: Object.fromEntries(fields), storeFile })
    isOwned = !result.replayed
    return result
  } finally {
    for (const incoming of isOwned ? [] : incomings) await incoming.abandon()
  }
}

async function finishFile(
  { name, contentType }: FilePart,
  incoming: IncomingFile,
): Promise<StoredUpload> {
  const stored = await incoming.finish().catch(throwTooShort)
  if (!stored) throw storageFullProblem()
  if (stored.sizeBytes === 0) throw invalidFieldProblem("file", "the file is empty")
  return { ...stored, name, contentType }
}

/** Throws 422 for a form in which too many bytes follow the file. */
function throwTooShort(cause: unknown): never {
  if (!(cause instanceof ObjectTooShortError)) throw cause
  throw invalidFieldProblem("body", "too many bytes follow the file; send the file last", cause)
}

/**
 * Returns the fault of a form with neither the part `file` nor the alternative `field`, such as
 * `file_url`.
 */
export function missingFileFault(c: AppContext, field: string): Fault {
  return { field: "file", message: `expected file or ${field}, as in ${formatCurlUpload(c)}` }
}

/**
 * Replaces the message of a fault for a text field such as `file_name`: a form states the name of
 * the file inside the part `file`, not in a field of its own.
 */
export function explainFileNameFaults(faults: Fault[]): Fault[] {
  const message =
    "unknown field; send the name with the file, as in `-F 'file=@film.mp4;filename=name.mp4'`"
  return faults.map((fault) => {
    return /^(?:file_?)?name$/i.test(fault.field) ? { ...fault, message } : fault
  })
}

/**
 * Returns the fault of a request with both a file and the alternative `field`, such as `file_url`.
 */
export function duplicateFileFault(field: string): Fault {
  return { field, message: `expected either file or ${field}, not both` }
}

/**
 * Adds upload instructions to the faults of a JSON body that contains `file`, or that lacks both
 * `file` and the alternative `field`.
 */
export function addUploadInstructions(
  c: AppContext,
  faults: Fault[],
  { body, field }: { body: object; field: string },
): Fault[] {
  const ofFile = `send the bytes of a file as multipart/form-data, as in ${formatCurlUpload(c)}, or send ${field} in a JSON body`
  const isMeant = "file" in body && !(field in body)
  const isMissing = !("file" in body) && !(field in body)
  return faults
    .filter((fault) => !(isMeant && fault.field === field))
    .map((fault) => {
      if (fault.field === "file") return { ...fault, message: ofFile }
      if (!isMissing || fault.field !== field) return fault
      return { ...fault, message: `${fault.message}; or send a file: ${formatCurlUpload(c)}` }
    })
}
