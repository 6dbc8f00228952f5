import { createWriteStream } from "node:fs"
import { stat } from "node:fs/promises"
import type { FileHandle } from "node:fs/promises"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { crc32 } from "node:zlib"
import { z } from "zod"
import { OUTPUT_PARTS_AT_ONCE } from "../src/contract/protocol.ts"
import type { TaskInput } from "../src/contract/task.ts"
import { mapAtOnce } from "./at-once.ts"
import type { Call, Io } from "./io.ts"
import { blobOf, openPlainFile } from "./plain-file.ts"
import { retry, transferPace } from "./retry.ts"
import { RunnerError } from "./runner-error.ts"

const CRC_BYTES = 1024 * 1024

type Way = { io: Io; signal: AbortSignal }

const begun = z.object({ upload_id: z.string().min(1) })
const partStored = z.object({ etag: z.string().min(1) })

/** Brings an input to a path; what arrived before a broken connection is not asked for again. */
export async function downloadInput(way: Way, input: TaskInput, path: string): Promise<void> {
  try {
    await retry(transferPace(way.signal), () => resumeDownload(way, input, path))
  } catch (error) {
    way.signal.throwIfAborted()
    const message = `The input ${input.key} could not be brought to the runner.`
    throw new RunnerError("input_failed", message, { cause: error })
  }
}

/** A file of the workspace on its way to its place below `/outputs`. */
export type Outgoing = { place: string; path: string; contentType: string; partBytes: number }

/** Stores a file as an output, in equal parts where it is larger than one. */
export async function uploadOutput(way: Way, output: Outgoing): Promise<void> {
  await using handle = await openPlainFile(output.path)
  await uploadBlob(way, output, await blobOf(handle, output.path))
}

/** Stores a file of a bundle; answers its size and the CRC-32 that an archive needs. */
export async function uploadMember(
  way: Way,
  member: Outgoing,
): Promise<{ sizeBytes: number; crc: number }> {
  await using handle = await openPlainFile(member.path)
  const file = await blobOf(handle, member.path)
  const [crc] = await Promise.all([
    crcOf(handle, file.size, way.signal),
    uploadBlob(way, member, file),
  ])
  return { sizeBytes: file.size, crc }
}

/** Stores a text that the runner made as an output. */
export async function uploadText(
  way: Way,
  output: { place: string; text: string; contentType: string },
): Promise<void> {
  const headers = { "content-type": output.contentType }
  await drain(await put(way, output.place, { body: new Blob([output.text]), headers }))
}

async function uploadBlob(way: Way, output: Outgoing, file: Blob): Promise<void> {
  const { place } = output
  const headers = { "content-type": output.contentType }
  if (file.size <= output.partBytes) {
    await drain(await put(way, place, { body: file, headers }))
    return
  }
  const opened = await send(way, `${place}/parts`, { method: "POST", headers })
  const uploadId = encodeURIComponent(begun.parse(await opened.json()).upload_id)
  const count = Math.ceil(file.size / output.partBytes)
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const pace = { limit: OUTPUT_PARTS_AT_ONCE, signal: way.signal }
  const parts = await mapAtOnce(numbers, pace, async (number, signal) => {
    const body = file.slice((number - 1) * output.partBytes, number * output.partBytes)
    const stored = await put({ ...way, signal }, `${place}/parts/${number}?upload_id=${uploadId}`, {
      body,
    })
    return { part_number: number, etag: partStored.parse(await stored.json()).etag }
  })
  const body = JSON.stringify({ parts })
  const path = `${place}/parts/complete?upload_id=${uploadId}`
  await drain(await send(way, path, { method: "POST", body }))
}

async function crcOf(handle: FileHandle, sizeBytes: number, signal: AbortSignal): Promise<number> {
  const room = Buffer.allocUnsafe(Math.min(sizeBytes, CRC_BYTES))
  let crc = 0
  for (let at = 0; at < sizeBytes;) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(room, 0, Math.min(room.length, sizeBytes - at), at)
    if (bytesRead === 0) throw new Error(`Only ${at} of ${sizeBytes} bytes could be read.`)
    crc = crc32(room.subarray(0, bytesRead), crc)
    at += bytesRead
  }
  return crc
}

async function resumeDownload(way: Way, input: TaskInput, path: string): Promise<void> {
  const had = await sizeOf(path)
  // The connection can break behind the last byte, and there is no range from there on.
  if (had > 0 && had === input.size_bytes) return
  const answer = await way.io.call(`/inputs/${input.key}`, {
    headers: had > 0 ? { range: `bytes=${had}-` } : {},
    signal: way.signal,
  })
  const flags = answer.status === 206 ? "a" : "w"
  const body = answer.body ? Readable.fromWeb(answer.body) : Readable.from([])
  await pipeline(body, createWriteStream(path, { flags }), { signal: way.signal })
  const size = await sizeOf(path)
  if (size > input.size_bytes) throw new RunnerError("input_failed", "More came than was said.")
  if (size < input.size_bytes) throw new Error(`Only ${size} bytes came.`)
}

async function sizeOf(path: string): Promise<number> {
  const facts = await stat(path).catch(() => null)
  return facts?.size ?? 0
}

/** Only an answer that was read to its end leaves its connection for the next call. */
async function drain(answer: Response): Promise<void> {
  await answer.arrayBuffer()
}

function put(way: Way, path: string, call: Omit<Call, "method" | "signal">): Promise<Response> {
  return send(way, path, { method: "PUT", ...call })
}

function send(way: Way, path: string, call: Omit<Call, "signal">): Promise<Response> {
  return retry(transferPace(way.signal), () => way.io.call(path, { ...call, signal: way.signal }))
}
