import { newId } from "../platform/ids.ts"
import type { AccountDatabase } from "../db/database.ts"
import type { DiskSpaceReservation, DiskSpaceReserver } from "../bindings/storage-disk.ts"
import { makeUploadObjectKey } from "../domain/object-keys.ts"
import type { Upload } from "../db/schema/uploads.ts"
import { insertUpload } from "../db/files/uploads.ts"
import { abortStreamedPart, startStreamedPart, fillStreamedPart } from "./streamed-part.ts"
import type { StreamedPart } from "./streamed-part.ts"

/**
 * Limits of R2 for multipart uploads: the minimum size of each part except the last, and the
 * maximum number of parts. All parts except the last have the same size.
 */
export const R2_PART_BYTES_MIN = 5 * 1024 * 1024
export const R2_PARTS_MAX = 10_000
const FIRST_BYTES = 256 * 1024

/**
 * Writer that stores an object in R2 in parts. A part that will certainly be filled is streamed.
 * Any other part is buffered. At most two parts are buffered at a time: the part that is being
 * filled, and the part that is being sent.
 */
export type PartWriter = {
  readonly upload: Upload
  readonly bucket: R2Bucket
  readonly database: AccountDatabase
  readonly bytesMax: number
  /** Size of each part of a multipart object, in bytes. */
  readonly partBytes: number
  /** Function that reserves bytes on the disk before they are sent. */
  readonly holdSpace: DiskSpaceReserver
  /** Promise of the upload of the previous part; null before the first part. */
  inFlight: Promise<void> | null
  /** Part whose bytes are being streamed. */
  streamed: StreamedPart | null
  readonly parts: R2UploadedPart[]
  /** Buffers of sent parts, which later parts reuse. */
  readonly spare: Uint8Array[]
  partsBegun: number
  multipart: R2MultipartUpload | null
  begun: boolean
  buffer: Uint8Array
  filledBytes: number
  storedBytes: number
}

/** Returns the writer of a new object of at most `bytesMax` bytes. Stores nothing yet. */
export function createPartWriter(
  bucket: R2Bucket,
  database: AccountDatabase,
  { bytesMax, holdSpace }: { bytesMax: number; holdSpace: DiskSpaceReserver },
): PartWriter {
  const id = newId()
  const { accountId } = database
  const upload = {
    id,
    accountId,
    objectKey: makeUploadObjectKey(accountId, id),
    multipartId: null,
    taskId: null,
    validator: null,
    createdAt: Date.now(),
    removalTriedAt: null,
  }
  return {
    upload,
    bucket,
    database,
    bytesMax,
    partBytes: Math.max(R2_PART_BYTES_MIN, Math.ceil(bytesMax / R2_PARTS_MAX)),
    holdSpace,
    inFlight: null,
    streamed: null,
    parts: [],
    spare: [],
    partsBegun: 0,
    multipart: null,
    begun: false,
    buffer: new Uint8Array(FIRST_BYTES),
    filledBytes: 0,
    storedBytes: 0,
  }
}

/**
 * Adds bytes to the object. If a part is full, waits until the previous part has been sent.
 * `moreBytes` is the minimum number of bytes that follow: a part that these bytes will fill is
 * streamed to R2, any other part is buffered. Returns false if the disk under R2 has no room (a
 * service on one machine).
 */
export async function addBytesToPartWriter(
  writer: PartWriter,
  bytes: Uint8Array,
  moreBytes = 0,
): Promise<boolean> {
  let rest = bytes
  while (rest.byteLength > 0) {
    const isPartCertain = rest.byteLength + moreBytes >= writer.partBytes
    if (!writer.streamed && writer.filledBytes === 0 && isPartCertain) {
      if (!(await beginStreamedPart(writer))) return false
    }
    if (writer.streamed) {
      rest = await fillStreamedPart(writer.streamed, rest)
      if (writer.streamed.missingBytes === 0) await endStreamedPart(writer, writer.streamed)
      continue
    }
    makeRoom(writer, rest.byteLength)
    const takenBytes = Math.min(rest.byteLength, writer.buffer.byteLength - writer.filledBytes)
    writer.buffer.set(rest.subarray(0, takenBytes), writer.filledBytes)
    writer.filledBytes += takenBytes
    rest = rest.subarray(takenBytes)
    if (writer.filledBytes === writer.partBytes && !(await flushPart(writer))) return false
  }
  return true
}

/**
 * Completes the object. Returns the object's size in bytes, or null if the disk has no room. Throws
 * `ObjectTooShortError` if fewer bytes came than were announced.
 */
export async function completePartWriterObject(
  writer: PartWriter,
  metadata: R2HTTPMetadata,
): Promise<number | null> {
  const { upload, bucket, buffer, filledBytes } = writer
  if (writer.streamed) throw new ObjectTooShortError()
  if (!writer.multipart) {
    const space = await writer.holdSpace(filledBytes)
    if (!space) return null
    await begin(writer)
    const bytes = buffer.subarray(0, filledBytes)
    await bucket
      .put(upload.objectKey, bytes, { httpMetadata: metadata })
      .finally(() => space.release())
    return filledBytes
  }
  if (filledBytes > 0 && !(await flushPart(writer))) return null
  await writer.inFlight
  await writer.multipart.complete(
    writer.parts.toSorted((one, other) => one.partNumber - other.partNumber),
  )
  return writer.storedBytes
}

/**
 * Waits until R2 receives no more parts of a writer, so that the upload can be aborted. Returns
 * false if the writer has not stored any bytes.
 */
export async function stopPartWriter(writer: PartWriter): Promise<boolean> {
  if (writer.streamed) await abortStreamedPart(writer.streamed)
  await Promise.allSettled([writer.inFlight])
  return writer.begun
}

/** Writes the row of the upload into D1, before the first byte is stored. */
async function begin(writer: PartWriter): Promise<void> {
  writer.begun = true
  await insertUpload(writer.database, writer.upload)
}

/** Error of an object whose bytes ended before the announced number was reached. */
export class ObjectTooShortError extends Error {
  override name = "ObjectTooShort"
}

/** Starts to stream a part. Returns false if the disk has no room. */
async function beginStreamedPart(writer: PartWriter): Promise<boolean> {
  const space = await writer.holdSpace(writer.partBytes)
  if (!space) return false
  const multipart = (writer.multipart ??= await beginMultipart(writer, space))
  writer.partsBegun += 1
  const partNumber = writer.partsBegun
  writer.streamed = startStreamedPart(writer.partBytes, async (body) => {
    try {
      writer.parts.push(await multipart.uploadPart(partNumber, body))
    } finally {
      space.release()
    }
  })
  return true
}

/**
 * Ends a streamed part whose bytes are all passed to R2, and waits for the previous part's upload.
 */
async function endStreamedPart(writer: PartWriter, part: StreamedPart): Promise<void> {
  writer.streamed = null
  writer.storedBytes += writer.partBytes
  const before = writer.inFlight
  writer.inFlight = part.sent
  await before
}

async function flushPart(writer: PartWriter): Promise<boolean> {
  const { buffer, filledBytes } = writer
  await writer.inFlight
  const space = await writer.holdSpace(filledBytes)
  if (!space) return false
  writer.multipart ??= await beginMultipart(writer, space)
  writer.partsBegun += 1
  const sending = sendPart(writer, writer.multipart, buffer.subarray(0, filledBytes))
  writer.inFlight = sending.finally(() => space.release())
  // Prevents an unhandled rejection; the next `await` of the promise still throws the error.
  writer.inFlight.catch(() => undefined)
  writer.storedBytes += filledBytes
  writer.filledBytes = 0
  const remainingBytes = Math.max(0, writer.bytesMax - writer.storedBytes)
  writer.buffer = writer.spare.pop() ?? new Uint8Array(Math.min(writer.partBytes, remainingBytes))
  return true
}

async function sendPart(
  writer: PartWriter,
  multipart: R2MultipartUpload,
  bytes: Uint8Array,
): Promise<void> {
  writer.parts.push(await multipart.uploadPart(writer.partsBegun, bytes))
  if (bytes.byteLength === writer.partBytes) writer.spare.push(bytes)
}

async function beginMultipart(
  writer: PartWriter,
  space: DiskSpaceReservation,
): Promise<R2MultipartUpload> {
  let multipart: R2MultipartUpload | null = null
  try {
    multipart = await writer.bucket.createMultipartUpload(writer.upload.objectKey)
    writer.upload.multipartId = multipart.uploadId
    await begin(writer)
    return multipart
  } catch (error) {
    space.release()
    // Aborts the multipart upload, because the sweep would never find an upload without a row.
    await multipart?.abort().catch(() => undefined)
    throw error
  }
}

/**
 * Replaces a buffer with too little room by a larger one. The first buffer is small, for small
 * files. The second has the full size, because each replaced buffer stays in memory until it is
 * garbage-collected.
 */
function makeRoom(writer: PartWriter, bytes: number): void {
  const { buffer, bytesMax, filledBytes, partBytes, storedBytes } = writer
  const bytesNeeded = Math.min(partBytes, filledBytes + bytes)
  if (bytesNeeded <= buffer.byteLength) return
  writer.buffer = new Uint8Array(Math.min(partBytes, Math.max(bytesNeeded, bytesMax - storedBytes)))
  writer.buffer.set(buffer.subarray(0, filledBytes))
}
