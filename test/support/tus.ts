import { expect } from "vitest"
import type { TestCaller } from "./caller.ts"

/** Function that sends a request of the tus protocol to a path below /v1. */
export type SendTus = (
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: Uint8Array | string,
) => Promise<Response>

/** Returns a function that sends requests of the tus protocol with a caller's key. */
export function makeTusSender(caller: Pick<TestCaller, "call">): SendTus {
  return async (method, path, headers = {}, body) => {
    return await caller.call(path, {
      method,
      headers: { "tus-resumable": "1.0.0", ...headers },
      ...(body !== undefined && { body }),
    })
  }
}

/** Returns the value of the header `Upload-Metadata` for pairs of names and values. */
export function makeTusMetadata(pairs: Record<string, string>): string {
  return Object.entries(pairs)
    .map(
      ([name, value]) => `${name} ${btoa(String.fromCharCode(...new TextEncoder().encode(value)))}`,
    )
    .join(",")
}

/** Creates a tus upload. Returns its path below /v1. */
export async function createTestTusUpload(
  send: SendTus,
  sizeBytes: number,
  pairs: Record<string, string> = { filename: "film.bin" },
): Promise<string> {
  const answer = await send("POST", "/uploads", {
    "upload-length": String(sizeBytes),
    "upload-metadata": makeTusMetadata(pairs),
  })
  expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)])
  return readLocationPath(answer)
}

/** Returns the path below /v1 of the URL in the `Location` header. */
export function readLocationPath(answer: Response): string {
  return new URL(answer.headers.get("location") ?? "").pathname.replace(/^\/v1/, "")
}

/** Sends bytes to a tus upload at an offset. */
export async function patchTusUpload(
  send: SendTus,
  path: string,
  {
    offset,
    bytes,
    headers = {},
  }: { offset: number; bytes: Uint8Array; headers?: Record<string, string> },
): Promise<Response> {
  const more = {
    "content-type": "application/offset+octet-stream",
    "upload-offset": String(offset),
  }
  return await send("PATCH", path, { ...more, ...headers }, bytes)
}

/** Returns the offset of a tus upload, which a HEAD request reads. */
export async function readTusOffset(send: SendTus, path: string): Promise<number> {
  const answer = await send("HEAD", path)
  expect(answer.status).toBe(200)
  return Number(answer.headers.get("upload-offset"))
}
