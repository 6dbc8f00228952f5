import type { Fault } from "../faults.ts"
import type { StoredUpload } from "../kinds/uploads.ts"
import { openIncomingFile } from "../pipeline/uploads/incoming-file.ts"
import type { IncomingFile } from "../pipeline/uploads/incoming-file.ts"
import { curlOf, receiveMultipart } from "./multipart.ts"
import type { FilePart } from "./multipart.ts"
import { storageFull, unprocessable } from "./problem.ts"
import { readIdempotencyKey } from "./request.ts"
import type { AppContext } from "./request.ts"
import { requireStorageRoom } from "./upload-room.ts"
import { withUploadPlace } from "./upload-places.ts"

/** A multipart body that was received: its fields as texts, and its file where it has one. */
export type FileForm = {
  fields: Record<string, string>
  /** Stores the end of the file; 422 where it is empty, 507 where there is no room for it. */
  storeFile: (() => Promise<StoredUpload>) | null
}

/**
 * Receives a multipart body and makes a job of it; what its file stored is removed unless the job is
 * new and has taken it.
 */
export async function withFileForm<Made extends { replayed: boolean }>(
  c: AppContext,
  make: (form: FileForm) => Promise<Made>,
): Promise<Made> {
  const hasRoom = requireStorageRoom(c)
  // Looked up while the place is taken, which may be refused first.
  hasRoom.catch(() => undefined)
  const made = withUploadPlace(c, async () => {
    await hasRoom
    return await receiveForm(c, make)
  })
  // A caller that hangs up must not stop what was begun from being removed.
  c.executionCtx.waitUntil(made.catch(() => undefined))
  return await made
}

async function receiveForm<Made extends { replayed: boolean }>(
  c: AppContext,
  make: (form: FileForm) => Promise<Made>,
): Promise<Made> {
  // Refused before the body is read.
  readIdempotencyKey(c)
  const opened: IncomingFile[] = []
  let isTaken = false
  try {
    const { fields, file } = await receiveMultipart(c, (part) => {
      const incoming = openIncomingFile(c.env, c.get("account").id, part)
      opened.push(incoming)
      return incoming
    })
    const [incoming] = opened
    const storeFile = file && incoming ? () => finishFile(file, incoming) : null
    const made = await make({ fields: Object.fromEntries(fields), storeFile })
    isTaken = !made.replayed
    return made
  } finally {
    for (const incoming of isTaken ? [] : opened) await incoming.abandon()
  }
}

async function finishFile(
  { name, contentType }: FilePart,
  incoming: IncomingFile,
): Promise<StoredUpload> {
  const stored = await incoming.finish()
  if (!stored) throw storageFull()
  if (stored.sizeBytes === 0) throw unprocessable("file", "it is empty: no bytes came with it")
  return { ...stored, name, contentType }
}

/** The fault of a form that has neither a file nor what may stand for one in `field`. */
export function noFile(c: AppContext, field: string): Fault {
  return { field: "file", message: `give file or ${field}, as ${curlOf(c)}` }
}

/** Faults of a form, where it names its file by a field. */
export function explainName(faults: Fault[]): Fault[] {
  const message =
    "there is no such field: a file brings its name with it, as in `-F 'file=@film.mp4;filename=name.mp4'`"
  return faults.map((fault) => {
    return /^(?:file_?)?name$/i.test(fault.field) ? { ...fault, message } : fault
  })
}

/** The fault of a body that has both. */
export function fileTwice(field: string): Fault {
  return { field, message: `give file or ${field}, not both` }
}

/** Faults of a JSON body whose file may be named by `field`, where it is in the body as `file` or missing. */
export function explainFile(
  c: AppContext,
  faults: Fault[],
  { body, field }: { body: object; field: string },
): Fault[] {
  const ofFile = `the bytes of a file come as multipart/form-data, as ${curlOf(c)}; a JSON body has a ${field}`
  const isMeant = "file" in body && !(field in body)
  const isMissing = !("file" in body) && !(field in body)
  return faults
    .filter((fault) => !(isMeant && fault.field === field))
    .map((fault) => {
      if (fault.field === "file") return { ...fault, message: ofFile }
      if (!isMissing || fault.field !== field) return fault
      return { ...fault, message: `${fault.message}; or send a file itself: ${curlOf(c)}` }
    })
}
