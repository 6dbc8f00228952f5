import { create as contentDisposition } from "content-disposition"
import type { Member } from "../../contract/bundle.ts"
import type { AppContext } from "../../http/request.ts"
import { notFound, Problem } from "../../http/problem.ts"
import { databaseOf } from "../../storage/database.ts"
import { findFile, findLargeMember } from "../../storage/files.ts"
import type { StoredFile } from "../../storage/files.ts"
import type { Disposition } from "../../storage/links.ts"
import { memberObjectKey } from "../../storage/objects.ts"
import type { File } from "../../storage/schema/files.ts"
import { wholeFile } from "../../storage/whole-rows.ts"
import { sendArchive } from "./archive.ts"
import { parseRange } from "./range.ts"

/** One object of R2 as it is sent. */
type Medium = { name: string; objectKey: string; sizeBytes: number; contentType: string }

/** How a file is sent: shown or saved, and how long caches may keep it. */
export type Manner = { disposition: Disposition; cacheControl: string }

/** Media types that a browser may show as they are; others are saved, whatever the link says. */
const SHOWN_TYPES =
  /^(?:video|audio)\/|^image\/(?!svg)|^text\/(?:plain|vtt)(?:;|$)|^application\/json$/

/**
 * Media types that a page of this origin could load as a script or a style: the policy of pages lets
 * on what this origin serves, and whoever may upload is not to write for them.
 */
const LOADED_TYPES = /^(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script|^text\/css/i

/** The names that a request may mean: a playlist may have a `%` in it that means itself. */
export function namesOf(c: AppContext): string[] {
  return [c.req.param("name") ?? "", new URL(c.req.url).pathname.split("/").at(-1) ?? ""]
}

/** Sends a stored file, or the member of a bundle that the request names. */
export async function sendStored(
  c: AppContext,
  found: StoredFile,
  manner: Manner,
): Promise<Response> {
  const { file } = found
  const names = namesOf(c)
  if (file.bundle?.kind === "series" && names[0] === file.name) {
    const whole = await findFile(databaseOf(c.env, file.accountId), file.id)
    if (!whole) throw notFound("file")
    return await sendArchive(c, await wholeFile(c.env.MEDIA, whole.file), sharedHeaders(manner))
  }
  const member = found.member ?? (await findLargeMember(c.env.MEDIA, file, names))
  const medium = mediumOf(file, member)
  if (!medium || (!file.bundle && file.name !== names[0])) throw notFound("file")
  return await sendMedium(c, medium, manner)
}

/** A member of a bundle, or a file that is none. */
function mediumOf(file: File, member: Omit<Member, "crc32"> | null): Medium | null {
  const { name, objectKey, sizeBytes, contentType, bundle } = file
  if (objectKey === null || sizeBytes === null) return null
  if (!bundle) {
    return { name, objectKey, sizeBytes, contentType: contentType ?? "application/octet-stream" }
  }
  return (
    member && {
      name: member.name,
      objectKey: memberObjectKey(objectKey, member.name),
      sizeBytes: member.size_bytes,
      contentType: member.content_type,
    }
  )
}

async function sendMedium(c: AppContext, medium: Medium, manner: Manner): Promise<Response> {
  const { objectKey, sizeBytes } = medium
  const range = await readRange(c, objectKey, sizeBytes)
  const object = await c.env.MEDIA.get(objectKey, {
    onlyIf: preconditions(c),
    ...(range && { range: { offset: range.start, length: range.end - range.start + 1 } }),
  })
  if (!object) throw notFound("file")
  const headers = headersOf(medium, object, manner)
  if (!("body" in object)) {
    const unchanged = c.req.header("if-none-match") ?? c.req.header("if-modified-since")
    if (unchanged !== undefined) return new Response(null, { status: 304, headers })
    throw new Problem("precondition_failed", "The file is not the one that the condition names.")
  }
  headers.set("content-length", String(range ? range.end - range.start + 1 : sizeBytes))
  if (range) headers.set("content-range", `bytes ${range.start}-${range.end}/${sizeBytes}`)
  const status = range ? 206 : 200
  if (c.req.method !== "HEAD") return new Response(object.body, { status, headers })
  await object.body.cancel()
  return new Response(null, { status, headers })
}

/** The one range to send; null for the whole: no range, several, or one of another version. */
async function readRange(c: AppContext, objectKey: string, sizeBytes: number) {
  const header = c.req.method === "GET" ? c.req.header("range") : undefined
  const range = header === undefined ? null : parseRange(header, sizeBytes)
  if (range === null || !(await isSameVersion(c, objectKey))) return null
  if (range.start <= range.end) return range
  throw new Problem("range_not_satisfiable", `The file has ${sizeBytes} bytes.`, {
    headers: { "content-range": `bytes */${sizeBytes}` },
  })
}

async function isSameVersion(c: AppContext, objectKey: string): Promise<boolean> {
  const version = c.req.header("if-range")
  if (version === undefined) return true
  const object = await c.env.MEDIA.head(objectKey)
  if (!object) return false
  if (version.startsWith('"')) return version === object.httpEtag
  return Date.parse(version) === Math.floor(object.uploaded.getTime() / 1000) * 1000
}

function preconditions(c: AppContext): Headers {
  const headers = new Headers()
  for (const name of ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]) {
    const value = c.req.header(name)
    if (value !== undefined) headers.set(name, value)
  }
  return headers
}

function headersOf({ name, contentType }: Medium, object: R2Object, manner: Manner): Headers {
  const shown: Disposition = SHOWN_TYPES.test(contentType) ? manner.disposition : "attachment"
  const headers = sharedHeaders(manner)
  headers.set("accept-ranges", "bytes")
  headers.set("content-disposition", contentDisposition(name, { type: shown }))
  const isLoaded = LOADED_TYPES.test(contentType)
  headers.set("content-type", isLoaded ? "application/octet-stream" : contentType)
  headers.set("etag", object.httpEtag)
  headers.set("last-modified", object.uploaded.toUTCString())
  return headers
}

/** What every download says, of whatever it is. */
function sharedHeaders({ cacheControl }: Manner): Headers {
  return new Headers({
    "access-control-allow-origin": "*",
    "cache-control": cacheControl,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  })
}
