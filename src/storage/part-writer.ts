import { newId } from "../ids.ts"
import type { AccountDatabase } from "./database.ts"
import type { HeldSpace, HoldSpace } from "./state-disk.ts"
import { uploadObjectKey } from "./objects.ts"
import type { Upload } from "./schema/uploads.ts"
import { openUpload } from "./uploads.ts"

/** R2 takes parts from this size on, all equal but the last, and at most so many of them. */
const PART_BYTES_MIN = 5 * 1024 * 1024
const PARTS_MAX = 10_000
const FIRST_BYTES = 256 * 1024

/** An object on its way into R2, part by part; two parts are held: one comes in, one goes out. */
export type PartWriter = {
  readonly upload: Upload
  readonly bucket: R2Bucket
  readonly database: AccountDatabase
  readonly bytesMax: number
  /** Above one part the object is written in parts of this size, in bytes. */
  readonly partBytes: number
  /** How bytes are held on the disk before they are sent. */
  readonly holdSpace: HoldSpace
  /** The part that is under way. */
  inFlight: Promise<void> | null
  readonly parts: R2UploadedPart[]
  /** Memory of parts that were sent, for the next ones. */
  readonly spare: Uint8Array[]
  partsBegun: number
  multipart: R2MultipartUpload | null
  begun: boolean
  buffer: Uint8Array
  filledBytes: number
  storedBytes: number
}

/** Begins a new object of an account, of at most `bytesMax`; nothing is stored so far. */
export function openPartWriter(
  bucket: R2Bucket,
  database: AccountDatabase,
  { bytesMax, holdSpace }: { bytesMax: number; holdSpace: HoldSpace },
): PartWriter {
  const id = newId()
  const { accountId } = database
  const upload = {
    id,
    accountId,
    objectKey: uploadObjectKey(accountId, id),
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
    partBytes: Math.max(PART_BYTES_MIN, Math.ceil(bytesMax / PARTS_MAX)),
    holdSpace,
    inFlight: null,
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

/** Adds bytes; waits while a whole part is still under way. False where the disk has no room. */
export async function writeBytes(writer: PartWriter, bytes: Uint8Array): Promise<boolean> {
  let rest = bytes
  while (rest.byteLength > 0) {
    makeRoom(writer, rest.byteLength)
    const taken = Math.min(rest.byteLength, writer.buffer.byteLength - writer.filledBytes)
    writer.buffer.set(rest.subarray(0, taken), writer.filledBytes)
    writer.filledBytes += taken
    rest = rest.subarray(taken)
    if (writer.filledBytes === writer.partBytes && !(await flushPart(writer))) return false
  }
  return true
}

/** Makes the object whole; answers its size in bytes, null where the disk has no room. */
export async function finishObject(
  writer: PartWriter,
  metadata: R2HTTPMetadata,
): Promise<number | null> {
  const { upload, bucket, buffer, filledBytes } = writer
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

/** Waits for what is under way, so that it can be abandoned; false where nothing was stored. */
export async function stopWriting(writer: PartWriter): Promise<boolean> {
  await Promise.allSettled([writer.inFlight])
  return writer.begun
}

/** The upload's row is there before the first byte is. */
async function begin(writer: PartWriter): Promise<void> {
  writer.begun = true
  await openUpload(writer.database, writer.upload)
}

async function flushPart(writer: PartWriter): Promise<boolean> {
  const { buffer, filledBytes } = writer
  await writer.inFlight
  const space = await writer.holdSpace(filledBytes)
  if (!space) return false
  writer.multipart ??= await beginMultipart(writer, space)
  writer.partsBegun += 1
  const sent = sendPart(writer, writer.multipart, buffer.subarray(0, filledBytes))
  writer.inFlight = sent.finally(() => space.release())
  // Whoever waits for it next hears of its failure.
  writer.inFlight.catch(() => undefined)
  writer.storedBytes += filledBytes
  writer.filledBytes = 0
  writer.buffer = writer.spare.pop() ?? new Uint8Array(writer.partBytes)
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

async function beginMultipart(writer: PartWriter, space: HeldSpace): Promise<R2MultipartUpload> {
  let made: R2MultipartUpload | null = null
  try {
    made = await writer.bucket.createMultipartUpload(writer.upload.objectKey)
    writer.upload.multipartId = made.uploadId
    await begin(writer)
    return made
  } catch (error) {
    space.release()
    // Without its row nobody would find it.
    await made?.abort().catch(() => undefined)
    throw error
  }
}

/**
 * The first buffer is small, for small files; the next has all that may come of a part, since what
 * is outgrown stays in memory for a while.
 */
function makeRoom(writer: PartWriter, bytes: number): void {
  const { buffer, bytesMax, filledBytes, partBytes } = writer
  const wanted = Math.min(partBytes, filledBytes + bytes)
  if (wanted <= buffer.byteLength) return
  writer.buffer = new Uint8Array(Math.min(partBytes, Math.max(wanted, bytesMax)))
  writer.buffer.set(buffer.subarray(0, filledBytes))
}
