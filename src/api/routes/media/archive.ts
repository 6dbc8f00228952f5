import { create as contentDisposition } from "content-disposition"
import { makeStoredBundleZipName } from "../../../contract/bundle.ts"
import type { BundleMember } from "../../../contract/bundle.ts"
import type { AppContext } from "../../context.ts"
import { notFoundProblem } from "../../output/problem.ts"
import { logError } from "../../../platform/log.ts"
import { makeMemberObjectKey } from "../../../domain/object-keys.ts"
import type { File } from "../../../db/schema/files.ts"
import { computeZipLayout } from "../../../objects/zip.ts"
import type { ZipLayout } from "../../../objects/zip.ts"
import { toHex } from "../../../platform/crypto/hex.ts"
import {
  preconditionFailedProblem,
  evaluatePreconditions,
  selectByteRange,
  setContentLengthHeaders,
} from "./conditions.ts"
import type { RequestedByteRange } from "./conditions.ts"

/**
 * Number of R2 objects that are opened in parallel, so that the download of many small files does
 * not wait for each file.
 */
const OPEN_AT_ONCE = 4

/** Length of an archive's ETag, in hexadecimal digits. */
const TAG_LENGTH = 32

type BundleFile = Pick<File, "name" | "objectKey" | "bundle" | "completedAt">

/**
 * Sends a bundle as a ZIP that is built during the download: the whole ZIP, or a byte range.
 * `headers` are the response headers that every download has.
 */
export async function sendBundleArchive(
  c: AppContext,
  { name, objectKey, bundle, completedAt }: BundleFile,
  headers: Headers,
): Promise<Response> {
  const members = bundle?.members ?? []
  if (objectKey === null) throw notFoundProblem("file")
  const modifiedAt = new Date(completedAt ?? 0)
  const zip = computeZipLayout(
    members.map((member) => ({
      name: member.name,
      sizeBytes: member.size_bytes,
      crc: member.crc32,
    })),
    modifiedAt,
  )
  const version = { httpEtag: await computeTag(zip), uploaded: modifiedAt }
  headers.set("accept-ranges", "bytes")
  headers.set("etag", version.httpEtag)
  headers.set("last-modified", modifiedAt.toUTCString())
  headers.set("content-disposition", contentDisposition(makeStoredBundleZipName(name)))
  headers.set("content-type", "application/zip")
  const verdict = evaluatePreconditions(c.req.raw.headers, version)
  if (verdict === "failed") throw preconditionFailedProblem(c)
  if (verdict === "unchanged") return new Response(null, { status: 304, headers })
  const range = c.req.method === "GET" ? selectByteRange(c, zip.sizeBytes, version) : null
  setContentLengthHeaders(headers, zip.sizeBytes, range)
  if (c.req.method === "HEAD") return new Response(null, { headers })
  const slices = sliceArchive(zip, members, range ?? { start: 0, end: zip.sizeBytes - 1 })
  const objects = openObjects(
    c.env.MEDIA,
    objectKey,
    slices.filter((slice) => "member" in slice),
  )
  const first = await objects.next()
  if (first.done !== true && !first.value) throw notFoundProblem("file")
  const length = range ? range.end - range.start + 1 : zip.sizeBytes
  const { readable, writable } = new FixedLengthStream(length)
  const sending = writeSlices(slices, { next: first.value, rest: objects }, writable)
  // Ignore a failed write: a client that is still connected notices the missing bytes, because the
  // Content-Length is larger.
  c.executionCtx.waitUntil(
    sending.catch((error: unknown) => writable.abort(error).catch(() => null)),
  )
  return new Response(readable, { status: range ? 206 : 200, headers })
}

/**
 * Returns the ETag of an archive: a hash of the ZIP directory, which has the names, sizes and
 * checksums of all files.
 */
async function computeTag({ directory }: ZipLayout): Promise<string> {
  return `"${toHex(await crypto.subtle.digest("SHA-256", directory)).slice(0, TAG_LENGTH)}"`
}

/**
 * Slice of an archive: bytes of a ZIP header or directory, or a part of a member file. `sizeBytes`
 * is the size of the whole member.
 */
type Slice =
  | { bytes: Uint8Array }
  | { member: string; sizeBytes: number; offset: number; length: number }

/** Returns the slices of an archive that lie in a byte range. */
function sliceArchive(
  { headers, directory }: ZipLayout,
  members: readonly BundleMember[],
  { start, end }: RequestedByteRange,
): Slice[] {
  const slices: Slice[] = []
  let position = 0
  /**
   * Advances past the next `sizeBytes` bytes of the archive. Returns the offset and length of the
   * part of these bytes that lies in the requested range.
   */
  function take(sizeBytes: number): { offset: number; length: number } {
    const from = Math.max(start, position)
    const to = Math.min(end + 1, position + sizeBytes)
    const offset = from - position
    position += sizeBytes
    return { offset, length: Math.max(0, to - from) }
  }
  function takeBytes(bytes: Uint8Array): void {
    const { offset, length } = take(bytes.byteLength)
    if (length > 0) slices.push({ bytes: bytes.subarray(offset, offset + length) })
  }
  for (const [index, header] of headers.entries()) {
    takeBytes(header)
    const { name = "", size_bytes: sizeBytes = 0 } = members[index] ?? {}
    const part = take(sizeBytes)
    if (part.length > 0) slices.push({ member: name, sizeBytes, ...part })
  }
  takeBytes(directory)
  return slices
}

type MemberSlice = Extract<Slice, { member: string }>

/**
 * Opens the R2 objects of slices in order, and a few objects ahead of the current one. Yields null
 * for a missing object.
 */
async function* openObjects(
  bucket: R2Bucket,
  objectKey: string,
  slices: readonly MemberSlice[],
): AsyncGenerator<R2ObjectBody | null, null> {
  const opening: Promise<R2ObjectBody | null>[] = []
  for (const [index] of slices.entries()) {
    for (const slice of slices.slice(index + opening.length, index + OPEN_AT_ONCE)) {
      const { member, sizeBytes, offset, length } = slice
      const range = length < sizeBytes ? { range: { offset, length } } : {}
      const object = bucket.get(makeMemberObjectKey(objectKey, member), range)
      // Avoids an unhandled rejection of an object opened ahead, which nobody awaits after the
      // client has disconnected.
      object.catch(() => undefined)
      opening.push(object)
    }
    yield (await opening.shift()) ?? null
  }
  return null
}

/** Writes the slices of an archive to a stream. Pipes parts of files from R2 without buffering. */
async function writeSlices(
  slices: readonly Slice[],
  { next, rest }: { next: R2ObjectBody | null; rest: AsyncGenerator<R2ObjectBody | null, null> },
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  let object = next
  for (const slice of slices) {
    if ("bytes" in slice) {
      await write(writable, slice.bytes)
      continue
    }
    if (!object) {
      logError("archive.member_gone", { member: slice.member })
      throw new Error("a member no longer exists")
    }
    await object.body.pipeTo(writable, { preventClose: true })
    object = (await rest.next()).value
  }
  await writable.close()
}

async function write(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter()
  await writer.write(bytes)
  writer.releaseLock()
}
