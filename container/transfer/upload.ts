import { hash } from "node:crypto"
import type { FileHandle } from "node:fs/promises"
import { crc32 } from "node:zlib"
import { OUTPUT_PARTS_AT_ONCE } from "../../src/contract/protocol.ts"
import { blobOf, openPlainFile, readSmallPlainFile } from "../sandbox/workspace.ts"
import type { IoRequest, TransferContext } from "./io-client.ts"
import { beginParts, UploadLostError } from "./part-upload.ts"
import { mapWithConcurrency, retry, transferRetryPolicy } from "./promises.ts"

const CRC_BUFFER_BYTES = 1024 * 1024
/** A file up to this size is read into memory, which costs less than to send it as it is read. */
const SMALL_BYTES_MAX = 1024 * 1024

/** How often an upload in parts is begun, since the Worker lost the one before. */
const BEGINNINGS_MAX = 3

/** A file of the workspace to upload, and its path at the Worker, such as `/outputs/{key}`. */
export type OutgoingFile = {
  ioPath: string
  path: string
  contentType: string
  partBytes: number
}

/**
 * Uploads a file as an output, in parts of equal size where it is larger than one part; answers the
 * SHA-256 of one that is small, hexadecimal.
 */
export async function uploadOutput(
  context: TransferContext,
  output: OutgoingFile,
): Promise<{ sha256?: string }> {
  const bytes = readSmallPlainFile(output.path, Math.min(SMALL_BYTES_MAX, output.partBytes))
  if (bytes) {
    await uploadBytes(context, { ...output, bytes })
    return { sha256: hash("sha256", bytes) }
  }
  await using handle = await openPlainFile(output.path)
  await uploadBlob(context, output, await blobOf(handle, output.path))
  return {}
}

/** Uploads a member of a bundle; returns its size and the CRC-32 that an archive needs. */
export async function uploadMember(
  context: TransferContext,
  member: OutgoingFile,
): Promise<{ sizeBytes: number; crc: number }> {
  await using handle = await openPlainFile(member.path)
  const file = await blobOf(handle, member.path)
  const [crc] = await Promise.all([
    crcOf(handle, file.size, context.signal),
    uploadBlob(context, member, file),
  ])
  return { sizeBytes: file.size, crc }
}

/** Uploads a text as an output. */
export async function uploadText(
  context: TransferContext,
  output: { ioPath: string; text: string; contentType: string },
): Promise<void> {
  const headers = { "content-type": output.contentType }
  await drain(await put(context, output.ioPath, { body: new Blob([output.text]), headers }))
}

/** Uploads bytes as an output, as a whole. */
export async function uploadBytes(
  context: TransferContext,
  output: { ioPath: string; bytes: Uint8Array<ArrayBuffer>; contentType: string },
): Promise<void> {
  const headers = { "content-type": output.contentType }
  await drain(await put(context, output.ioPath, { body: output.bytes, headers }))
}

async function uploadBlob(
  context: TransferContext,
  output: OutgoingFile,
  file: Blob,
): Promise<void> {
  const { ioPath } = output
  const headers = { "content-type": output.contentType }
  if (file.size <= output.partBytes) {
    await drain(await put(context, ioPath, { body: file, headers }))
    return
  }
  for (let beginnings = 1; ; beginnings += 1) {
    try {
      return await uploadParts(context, output, file)
    } catch (error) {
      if (!(error instanceof UploadLostError) || beginnings === BEGINNINGS_MAX) throw error
    }
  }
}

async function uploadParts(
  context: TransferContext,
  { ioPath, contentType, partBytes }: OutgoingFile,
  file: Blob,
): Promise<void> {
  const upload = await beginParts(context, ioPath, contentType)
  const numbers = Array.from({ length: Math.ceil(file.size / partBytes) }, (_, index) => index + 1)
  const options = { limit: OUTPUT_PARTS_AT_ONCE, signal: context.signal }
  await mapWithConcurrency(numbers, options, async (number, signal) => {
    const part = file.slice((number - 1) * partBytes, number * partBytes)
    await upload.store({ ...context, signal }, number, part)
  })
  await upload.complete(context)
}

async function crcOf(handle: FileHandle, sizeBytes: number, signal: AbortSignal): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(sizeBytes, CRC_BUFFER_BYTES))
  let crc = 0
  for (let at = 0; at < sizeBytes;) {
    signal.throwIfAborted()
    const length = Math.min(buffer.length, sizeBytes - at)
    const { bytesRead } = await handle.read(buffer, 0, length, at)
    if (bytesRead === 0) throw new Error(`Only ${at} of ${sizeBytes} bytes could be read.`)
    crc = crc32(buffer.subarray(0, bytesRead), crc)
    at += bytesRead
  }
  return crc
}

/** Reads a response to its end, without which its connection cannot be reused. */
async function drain(response: Response): Promise<void> {
  await response.arrayBuffer()
}

function put(
  { io, signal }: TransferContext,
  path: string,
  request: Omit<IoRequest, "method" | "signal">,
): Promise<Response> {
  return retry(transferRetryPolicy(signal), () =>
    io.fetch(path, { method: "PUT", ...request, signal }),
  )
}
