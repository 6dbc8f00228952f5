import { z } from "zod"
import {
  RUNNER_BOOT_ID_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
} from "../../src/contract/protocol.ts"

/** I/O routes of a running task, under test. */
export type IoUnderTest = {
  /** Sends a request without changes; `path` begins with `/io/`. */
  fetch(path: string, init: RequestInit): Promise<Response>
  taskId: string
  /** Token of the task's run. */
  token: string
  /** Id of the process that runs the task. */
  boot: string
  /** Input of the task, of at least 10 bytes. */
  input: { key: string; bytes: Uint8Array<ArrayBuffer> }
  /** Keys of at least two outputs that the task may store; none is stored yet. */
  outputKeys: readonly [string, string, ...string[]]
  /** Reads the stored bytes of an output or a member; null if there are none. */
  readStored(
    key: string,
    member?: string,
  ): Promise<{ bytes: Uint8Array; contentType: string | null } | null>
  /** Reads the stored bytes of a resumable output; null if there are none. */
  readResumable(key: string): Promise<{ bytes: Uint8Array; contentType: string | null } | null>
  /** Ends the run, which invalidates its token. */
  endRun(): Promise<void>
  close(): Promise<void>
}

export type Call = {
  method?: string
  /** Headers in addition to those of the protocol; undefined removes a header. */
  headers?: Record<string, string | undefined>
  body?: Uint8Array<ArrayBuffer> | string
}

/** Minimum size of a part in R2, except the last one. */
export const PART_BYTES_MIN = 5 * 1024 * 1024

/** Bodies with a wrong Content-Length: description, body, and announced length. */
export const WRONG_LENGTHS = [
  ["fewer bytes than announced", "abc", "4"],
  ["more bytes than announced", "abc", "2"],
  ["bytes without an announced length", "abc", "0"],
  ["no bytes for an announced length", "", "3"],
] as const

const uploadCreated = z.object({ upload_id: z.string().min(1) })
const partStored = z.object({ etag: z.string().min(1) })

/**
 * Sends a request as the task's run; `path` begins with `/io/`, or is relative to the task's
 * routes.
 */
export function callIo(
  io: IoUnderTest,
  path: string,
  { method = "GET", headers = {}, body }: Call = {},
): Promise<Response> {
  const all = {
    authorization: `Bearer ${io.token}`,
    [PROTOCOL_HEADER]: PROTOCOL_VERSION,
    [RUNNER_BOOT_ID_HEADER]: io.boot,
    ...(body !== undefined && { "content-length": String(byteLengthOf(body)) }),
    ...headers,
  }
  const given = Object.entries(all).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, value]],
  )
  const init = { method, headers: given, ...(body !== undefined && { body }) }
  return io.fetch(path.startsWith("/io/") ? path : `/io/${io.taskId}${path}`, init)
}

/** Begins an output in parts and returns the upload id as a query. */
export async function createUpload(io: IoUnderTest, path: string, type: string): Promise<string> {
  const headers = { "content-type": type }
  const response = await callIo(io, `${path}/parts`, { method: "POST", headers })
  return encodeURIComponent(uploadCreated.parse(await response.json()).upload_id)
}

/** Stores a part and returns its etag. */
export async function putPart(
  io: IoUnderTest,
  path: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const response = await callIo(io, path, { method: "PUT", body })
  return partStored.parse(await response.json()).etag
}

function byteLengthOf(body: Uint8Array | string): number {
  return typeof body === "string" ? new TextEncoder().encode(body).length : body.length
}
