import { hash } from "node:crypto"
import type { FileHandle } from "node:fs/promises"
import { crc32 } from "node:zlib"
import { PARALLEL_OUTPUT_PARTS_MAX } from "../../src/contract/protocol.ts"
import {
  readToolWrittenFileAsBlob,
  openToolWrittenFile,
  readSmallToolWrittenFile,
} from "../sandbox/workspace.ts"
import type { RunIoRequest, TransferContext } from "./worker-client.ts"
import { startPartUpload, UploadLostError } from "./part-upload.ts"
import {
  mapWithConcurrency,
  retryWithBackoff,
  transferRetryPolicy,
} from "./concurrency-and-retry.ts"

const CRC_BUFFER_BYTES = 1024 * 1024
/**
 * Size up to which a file is buffered in memory for its upload, in bytes. For small files, a buffer
 * is faster than a stream.
 */
const SMALL_BYTES_MAX = 1024 * 1024

/**
 * Maximum number of times that a multipart upload is started. An upload starts again if the Worker
 * has lost it.
 */
const UPLOAD_STARTS_MAX = 3

/**
 * File in the workspace that is to be uploaded, and its URL path at the Worker, such as
 * `/outputs/{key}`.
 */
export type OutputFileToUpload = {
  ioPath: string
  path: string
  contentType: string
  partBytes: number
}

/**
 * Uploads a file as an output. A file larger than one part is sent in parts of equal size. For a
 * small file, also returns the SHA-256 in hexadecimal.
 */
export async function uploadOutputFile(
  context: TransferContext,
  output: OutputFileToUpload,
): Promise<{ sha256?: string }> {
  const bytes = readSmallToolWrittenFile(output.path, Math.min(SMALL_BYTES_MAX, output.partBytes))
  if (bytes) {
    await uploadBytesOutput(context, { ...output, bytes })
    return { sha256: hash("sha256", bytes) }
  }
  await using handle = await openToolWrittenFile(output.path)
  await uploadBlob(context, output, await readToolWrittenFileAsBlob(handle, output.path))
  return {}
}

/**
 * Uploads a member of a bundle. Returns the size of the member, and the CRC-32 that ZIP archives
 * need.
 */
export async function uploadBundleMember(
  context: TransferContext,
  member: OutputFileToUpload,
): Promise<{ sizeBytes: number; crc: number }> {
  await using handle = await openToolWrittenFile(member.path)
  const file = await readToolWrittenFileAsBlob(handle, member.path)
  const [crc] = await Promise.all([
    crcOf(handle, file.size, context.signal),
    uploadBlob(context, member, file),
  ])
  return { sizeBytes: file.size, crc }
}

/** Uploads a text as the content of an output. */
export async function uploadTextOutput(
  context: TransferContext,
  output: { ioPath: string; text: string; contentType: string },
): Promise<void> {
  const headers = { "content-type": output.contentType }
  await drain(
    await putWithRetries(context, output.ioPath, { body: new Blob([output.text]), headers }),
  )
}

/** Uploads bytes as the content of an output, in one request. */
export async function uploadBytesOutput(
  context: TransferContext,
  output: { ioPath: string; bytes: Uint8Array<ArrayBuffer>; contentType: string },
): Promise<void> {
  const headers = { "content-type": output.contentType }
  await drain(await putWithRetries(context, output.ioPath, { body: output.bytes, headers }))
}

async function uploadBlob(
  context: TransferContext,
  output: OutputFileToUpload,
  file: Blob,
): Promise<void> {
  const { ioPath } = output
  const headers = { "content-type": output.contentType }
  if (file.size <= output.partBytes) {
    await drain(await putWithRetries(context, ioPath, { body: file, headers }))
    return
  }
  for (let starts = 1; ; starts += 1) {
    try {
      return await uploadParts(context, output, file)
    } catch (error) {
      if (!(error instanceof UploadLostError) || starts === UPLOAD_STARTS_MAX) throw error
    }
  }
}

async function uploadParts(
  context: TransferContext,
  { ioPath, contentType, partBytes }: OutputFileToUpload,
  file: Blob,
): Promise<void> {
  const upload = await startPartUpload(context, ioPath, contentType)
  const numbers = Array.from({ length: Math.ceil(file.size / partBytes) }, (_, index) => index + 1)
  const options = { limit: PARALLEL_OUTPUT_PARTS_MAX, signal: context.signal }
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

/** Reads a response to its end, so that the connection can be reused. */
async function drain(response: Response): Promise<void> {
  await response.arrayBuffer()
}

function putWithRetries(
  { io, signal }: TransferContext,
  path: string,
  request: Omit<RunIoRequest, "method" | "signal">,
): Promise<Response> {
  return retryWithBackoff(transferRetryPolicy(signal), () =>
    io.fetch(path, { method: "PUT", ...request, signal }),
  )
}
