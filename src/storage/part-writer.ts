import { newId } from "../ids.ts"
import type { AccountDatabase } from "./database.ts"
import { uploadObjectKey } from "./objects.ts"
import type { Upload } from "./schema/uploads.ts"
import { openUpload } from "./uploads.ts"

/** R2 takes parts from this size on, all equal but the last, and at most so many of them. */
const PART_BYTES_MIN = 5 * 1024 * 1024
const PARTS_MAX = 10_000
const PARTS_AT_ONCE = 2
const FIRST_BYTES = 256 * 1024

/** An object on its way into R2, part by part; at most three parts are held. */
export type PartWriter = {
  readonly upload: Upload
  readonly bucket: R2Bucket
  readonly database: AccountDatabase
  /** Above one part the object is written in parts of this size, in bytes. */
  readonly partBytes: number
  readonly inFlight: Set<Promise<void>>
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
  bytesMax: number,
): PartWriter {
  const id = newId()
  const { accountId } = database
  const upload = {
    id,
    accountId,
    objectKey: uploadObjectKey(accountId, id),
    multipartId: null,
    taskId: null,
    createdAt: Date.now(),
    dyingAt: null,
  }
  return {
    upload,
    bucket,
    database,
    partBytes: Math.max(PART_BYTES_MIN, Math.ceil(bytesMax / PARTS_MAX)),
    inFlight: new Set(),
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

/** Adds bytes; waits while as many parts are under way as may be. */
export async function writeBytes(writer: PartWriter, bytes: Uint8Array): Promise<void> {
  let rest = bytes
  while (rest.byteLength > 0) {
    makeRoom(writer, rest.byteLength)
    const taken = Math.min(rest.byteLength, writer.buffer.byteLength - writer.filledBytes)
    writer.buffer.set(rest.subarray(0, taken), writer.filledBytes)
    writer.filledBytes += taken
    rest = rest.subarray(taken)
    if (writer.filledBytes === writer.partBytes) await flushPart(writer)
  }
}

/** Makes the object whole; answers its size in bytes. */
export async function finishObject(writer: PartWriter, metadata: R2HTTPMetadata): Promise<number> {
  const { upload, bucket, buffer, filledBytes } = writer
  if (!writer.multipart) {
    await begin(writer)
    const bytes = buffer.subarray(0, filledBytes)
    await bucket.put(upload.objectKey, bytes, { httpMetadata: metadata })
    return filledBytes
  }
  if (filledBytes > 0) await flushPart(writer)
  await Promise.all(writer.inFlight)
  await writer.multipart.complete(
    writer.parts.toSorted((one, other) => one.partNumber - other.partNumber),
  )
  return writer.storedBytes
}

/** Waits for what is under way, so that it can be abandoned; false where nothing was stored. */
export async function stopWriting(writer: PartWriter): Promise<boolean> {
  await Promise.allSettled(writer.inFlight)
  return writer.begun
}

/** The upload's row is there before the first byte is. */
async function begin(writer: PartWriter): Promise<void> {
  writer.begun = true
  await openUpload(writer.database, writer.upload)
}

async function flushPart(writer: PartWriter): Promise<void> {
  const { inFlight, buffer, filledBytes } = writer
  writer.multipart ??= await beginMultipart(writer)
  if (inFlight.size >= PARTS_AT_ONCE) await Promise.race(inFlight)
  writer.partsBegun += 1
  const sent = sendPart(writer, writer.multipart, buffer.subarray(0, filledBytes))
  inFlight.add(sent)
  sent.then(
    () => inFlight.delete(sent),
    () => undefined, // It stays there, and whoever waits next hears of it.
  )
  writer.storedBytes += filledBytes
  writer.filledBytes = 0
  writer.buffer = writer.spare.pop() ?? new Uint8Array(writer.partBytes)
}

async function sendPart(
  writer: PartWriter,
  multipart: R2MultipartUpload,
  bytes: Uint8Array,
): Promise<void> {
  writer.parts.push(await multipart.uploadPart(writer.partsBegun, bytes))
  if (bytes.byteLength === writer.partBytes) writer.spare.push(bytes)
}

async function beginMultipart(writer: PartWriter): Promise<R2MultipartUpload> {
  const made = await writer.bucket.createMultipartUpload(writer.upload.objectKey)
  writer.upload.multipartId = made.uploadId
  await begin(writer)
  return made
}

/** The first buffer is small, for small files, and grows to a part's size. */
function makeRoom(writer: PartWriter, bytes: number): void {
  const { buffer, filledBytes, partBytes } = writer
  const wanted = Math.min(partBytes, filledBytes + bytes)
  if (wanted <= buffer.byteLength) return
  writer.buffer = new Uint8Array(Math.min(partBytes, Math.max(wanted, buffer.byteLength * 2)))
  writer.buffer.set(buffer.subarray(0, filledBytes))
}
