import { create as contentDisposition } from "content-disposition"
import { memberName } from "../../contract/bundle.ts"
import type { AppContext } from "../../http/request.ts"
import { notFound, Problem } from "../../http/problem.ts"
import { databaseOf } from "../../storage/database.ts"
import { findFile } from "../../storage/files.ts"
import { hashName } from "../../storage/links.ts"
import type { Disposition, Opened } from "../../storage/links.ts"
import { hydrateFile, readBundle } from "../../storage/hydrate.ts"
import { memberObjectKey } from "../../storage/objects.ts"
import type { File } from "../../storage/schema/files.ts"
import { sendArchive } from "./archive.ts"
import { hasEntityTags, judgeConditions } from "./conditions.ts"
import { parseRange } from "./range.ts"

/** One object of R2 as it is sent; where its size or type is not known, the object says it. */
type Medium = { name: string; objectKey: string; sizeBytes?: number; contentType?: string }

/** How a file is sent: shown or saved, and how long caches may keep it. */
export type Manner = { disposition: Disposition; cacheControl: string }

const DEFAULT_TYPE = "application/octet-stream"

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

/** Sends what a link opens: a file, or what the request names of a bundle. */
export async function sendOpened(c: AppContext, opens: Opened, manner: Manner): Promise<Response> {
  const { kind, objectKey } = opens
  const names = namesOf(c)
  const [name = ""] = names
  const isNamed = kind !== "playlist" && (await hashName(name)) === opens.nameHash
  if (kind === "file") {
    if (!isNamed) throw notFound("file")
    return await sendMedium(c, { ...opens, name }, manner)
  }
  if (kind === "playlist" || !isNamed) return await sendMember(c, objectKey, manner)
  const bundle = await readBundle(c.env.MEDIA, opens.bundleObjectKey)
  if (!bundle) throw notFound("file")
  return await sendArchive(c, { ...opens, name, bundle }, sharedHeaders(manner))
}

/** Sends a stored file, or the member of a bundle that the request names. */
export async function sendStored(c: AppContext, file: File, manner: Manner): Promise<Response> {
  const { name, objectKey, sizeBytes, contentType, bundle } = file
  const [asked] = namesOf(c)
  if (objectKey === null || sizeBytes === null) throw notFound("file")
  if (bundle?.kind === "series" && asked === name) {
    const whole = await findFile(databaseOf(c.env, file.accountId), file.id)
    if (!whole) throw notFound("file")
    return await sendArchive(c, await hydrateFile(c.env.MEDIA, whole.file), sharedHeaders(manner))
  }
  if (bundle) return await sendMember(c, objectKey, manner)
  if (asked !== name) throw notFound("file")
  const type = contentType ?? DEFAULT_TYPE
  return await sendMedium(c, { name, objectKey, sizeBytes, contentType: type }, manner)
}

/** Sends the first member of a bundle that has one of the names of the request, as R2 has it. */
async function sendMember(c: AppContext, objectKey: string, manner: Manner): Promise<Response> {
  const names = [...new Set(namesOf(c))].filter((name) => memberName.safeParse(name).success)
  for (const name of names) {
    const sent = await trySending(c, { name, objectKey: memberObjectKey(objectKey, name) }, manner)
    if (sent) return sent
  }
  throw notFound("file")
}

async function sendMedium(c: AppContext, medium: Medium, manner: Manner): Promise<Response> {
  const sent = await trySending(c, medium, manner)
  if (!sent) throw notFound("file")
  return sent
}

/** Sends an object; null where it is gone. */
async function trySending(c: AppContext, medium: Medium, manner: Manner): Promise<Response | null> {
  const range = await readRange(c, medium)
  const object = await c.env.MEDIA.get(
    medium.objectKey,
    range ? { range: { offset: range.start, length: range.end - range.start + 1 } } : {},
  )
  if (!object) return null
  const headers = headersOf(medium, object, manner)
  const verdict = judgeConditions(c.req.raw.headers, object)
  if (verdict !== "hold" || c.req.method === "HEAD") await object.body.cancel()
  if (verdict === "failed") throw failedCondition(c)
  if (verdict === "unchanged") return new Response(null, { status: 304, headers })
  const sizeBytes = medium.sizeBytes ?? object.size
  headers.set("content-length", String(range ? range.end - range.start + 1 : sizeBytes))
  if (range) headers.set("content-range", `bytes ${range.start}-${range.end}/${sizeBytes}`)
  const body = c.req.method === "HEAD" ? null : object.body
  return new Response(body, { status: range ? 206 : 200, headers })
}

function failedCondition(c: AppContext): Problem {
  const match = c.req.header("if-match")
  const message =
    match === undefined || hasEntityTags(match)
      ? "The file is not the one that the condition names."
      : "If-Match: expected * or entity tags in double quotes, as the ETag header of the file has one."
  return new Problem("precondition_failed", message)
}

/** The one range to send; null for the whole: no range, several, or one of another version. */
async function readRange(c: AppContext, { objectKey, sizeBytes: known }: Medium) {
  const header = c.req.method === "GET" ? c.req.header("range") : undefined
  if (header === undefined) return null
  const sizeBytes = known ?? (await c.env.MEDIA.head(objectKey))?.size
  if (sizeBytes === undefined) return null
  const range = parseRange(header, sizeBytes)
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

function headersOf(medium: Medium, object: R2Object, manner: Manner): Headers {
  const { name } = medium
  const contentType = medium.contentType ?? object.httpMetadata?.contentType ?? DEFAULT_TYPE
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
