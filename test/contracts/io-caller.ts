import { z } from "zod"
import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"

/** The I/O routes of one running task. */
export type IoUnderTest = {
  /** Sends a request as it is; `path` begins with `/io/`. */
  fetch(path: string, init: RequestInit): Promise<Response>
  taskId: string
  /** The token of the task's run. */
  token: string
  /** The process that the task was handed to. */
  boot: string
  /** An input of the task, of at least 10 bytes. */
  input: { key: string; bytes: Uint8Array<ArrayBuffer> }
  /** Keys of outputs that the task may store, none of which is stored yet; two at least. */
  outputKeys: readonly [string, string, ...string[]]
  /** What is stored of an output, or of a member of it; null where nothing is. */
  readStored(
    key: string,
    member?: string,
  ): Promise<{ bytes: Uint8Array; contentType: string | null } | null>
  /** The same of an output that was stored by an upload which later runs go on with. */
  readResumable(key: string): Promise<{ bytes: Uint8Array; contentType: string | null } | null>
  /** Ends the run, so that the token is one of a run that is over. */
  endRun(): Promise<void>
  close(): Promise<void>
}

export type Call = {
  method?: string
  /** Headers beside those of the protocol; one that is undefined is left out. */
  headers?: Record<string, string | undefined>
  body?: Uint8Array<ArrayBuffer> | string
}

/** R2 accepts no smaller part, but for the last one. */
export const PART_BYTES_MIN = 5 * 1024 * 1024

/** Bodies whose announced length is another than theirs: what is wrong, the body, and the length. */
export const WRONG_LENGTHS = [
  ["fewer bytes than announced", "abc", "4"],
  ["more bytes than announced", "abc", "2"],
  ["bytes where none are announced", "abc", "0"],
  ["no bytes where some are announced", "", "3"],
] as const

const uploadCreated = z.object({ upload_id: z.string().min(1) })
const partStored = z.object({ etag: z.string().min(1) })

/** Sends a request of the task's run; `path` begins with `/io/`, or is below the task's own. */
export function callIo(
  io: IoUnderTest,
  path: string,
  { method = "GET", headers = {}, body }: Call = {},
): Promise<Response> {
  const all = {
    authorization: `Bearer ${io.token}`,
    [PROTOCOL_HEADER]: PROTOCOL_VERSION,
    [BOOT_HEADER]: io.boot,
    ...(body !== undefined && { "content-length": String(byteLengthOf(body)) }),
    ...headers,
  }
  const given = Object.entries(all).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, value]],
  )
  const init = { method, headers: given, ...(body !== undefined && { body }) }
  return io.fetch(path.startsWith("/io/") ? path : `/io/${io.taskId}${path}`, init)
}

/** Begins an output in parts; answers the id of the upload for a query. */
export async function createUpload(io: IoUnderTest, path: string, type: string): Promise<string> {
  const headers = { "content-type": type }
  const response = await callIo(io, `${path}/parts`, { method: "POST", headers })
  return encodeURIComponent(uploadCreated.parse(await response.json()).upload_id)
}

/** Stores a part; answers its etag. */
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
