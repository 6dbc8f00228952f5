import { create as contentDisposition } from "content-disposition"
import { makeStoredBundleZipName, bundleMemberNameSchema } from "../../../contract/bundle.ts"
import type { AppContext } from "../../context.ts"
import { notFoundProblem } from "../../output/problem.ts"
import { openAccountDatabases } from "../../../db/database.ts"
import { findFile } from "../../../db/files/files.ts"
import { hashFileName } from "../../../objects/download-links.ts"
import type { ContentDispositionType, DownloadLinkTarget } from "../../../objects/download-links.ts"
import { hydrateFile, readBundleDescription } from "../../../db/values/hydrate.ts"
import { makeMemberObjectKey } from "../../../domain/object-keys.ts"
import type { File } from "../../../db/schema/files.ts"
import { sendBundleArchive } from "./archive.ts"
import {
  preconditionFailedProblem,
  evaluatePreconditions,
  selectByteRange,
  setContentLengthHeaders,
} from "./conditions.ts"
import type { RequestedByteRange } from "./conditions.ts"
import { readStoredObject } from "./stored-objects.ts"
import type { ReadableStoredObject } from "./stored-objects.ts"

/**
 * R2 object to send as a download. If the size or media type is undefined, the values that R2
 * stores are used.
 */
type MediaObject = { name: string; objectKey: string; sizeBytes?: number; contentType?: string }

/** Content-Disposition and Cache-Control of a download. */
export type DownloadHeaderOptions = { disposition: ContentDispositionType; cacheControl: string }

const DEFAULT_TYPE = "application/octet-stream"

/** Media types that browsers may show inline; others are always attachments. */
const INLINE_TYPES =
  /^(?:video|audio)\/|^image\/(?!svg)|^text\/(?:plain|vtt)(?:;|$)|^application\/json$/

/**
 * Media types that a page could load as a script or style sheet. The content security policy of
 * pages allows this origin, so uploads of these types are sent as `application/octet-stream`.
 */
const SCRIPT_OR_STYLE_TYPES = /^(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script|^text\/css/i

/**
 * Returns the requested file name, both decoded and as in the URL, because a playlist may refer to
 * a file whose name contains a literal `%`.
 */
export function readRequestedFileNames(c: AppContext): string[] {
  return [c.req.param("name") ?? "", new URL(c.req.url).pathname.split("/").at(-1) ?? ""]
}

/** Sends the file of a signed link, or the requested file of its bundle. */
export async function sendDownloadLinkTarget(
  c: AppContext,
  opens: DownloadLinkTarget,
  options: DownloadHeaderOptions,
): Promise<Response> {
  const { kind, objectKey } = opens
  const names = readRequestedFileNames(c)
  const [name = ""] = names
  const isNamed = kind !== "playlist" && (await hashFileName(name)) === opens.nameHash
  if (kind === "file") {
    if (!isNamed) throw notFoundProblem("file")
    return await sendObject(c, { ...opens, name }, options)
  }
  if (kind === "playlist" || !isNamed) return await sendMember(c, { objectKey, names }, options)
  const bundle = await readBundleDescription(c.env.MEDIA, opens.bundleObjectKey)
  if (!bundle) throw notFoundProblem("file")
  return await sendBundleArchive(c, { ...opens, name, bundle }, sharedHeaders(options))
}

/** Sends a stored file, or the requested file of a bundle. */
export async function sendStoredFile(
  c: AppContext,
  file: File,
  options: DownloadHeaderOptions,
): Promise<Response> {
  const { name, objectKey, sizeBytes, contentType, bundle } = file
  const [requestedName] = readRequestedFileNames(c)
  if (objectKey === null || sizeBytes === null) throw notFoundProblem("file")
  if (bundle && requestedName === makeStoredBundleZipName(name)) {
    const whole = await findFile(openAccountDatabases(c.env, file.accountId), file.id)
    if (!whole) throw notFoundProblem("file")
    return await sendBundleArchive(
      c,
      await hydrateFile(c.env.MEDIA, whole.file),
      sharedHeaders(options),
    )
  }
  if (bundle) {
    const playlist = requestedName === name ? bundle.playlist : undefined
    const names = playlist === undefined ? readRequestedFileNames(c) : [playlist]
    return await sendMember(c, { objectKey, names }, options)
  }
  if (requestedName !== name) throw notFoundProblem("file")
  const type = contentType ?? DEFAULT_TYPE
  return await sendObject(c, { name, objectKey, sizeBytes, contentType: type }, options)
}

/**
 * Sends a file of a bundle (playlist with segments, or image series): the first file in R2 that has
 * one of `names`. R2 supplies the size and the media type.
 */
async function sendMember(
  c: AppContext,
  { objectKey, names }: { objectKey: string; names: readonly string[] },
  options: DownloadHeaderOptions,
): Promise<Response> {
  for (const name of new Set(names)) {
    if (!bundleMemberNameSchema.safeParse(name).success) continue
    const answer = await trySendObject(
      c,
      { name, objectKey: makeMemberObjectKey(objectKey, name) },
      options,
    )
    if (answer) return answer
  }
  throw notFoundProblem("file")
}

async function sendObject(
  c: AppContext,
  medium: MediaObject,
  options: DownloadHeaderOptions,
): Promise<Response> {
  const answer = await trySendObject(c, medium, options)
  if (!answer) throw notFoundProblem("file")
  return answer
}

/** Sends an R2 object as a download; returns null if the object is missing. */
async function trySendObject(
  c: AppContext,
  medium: MediaObject,
  options: DownloadHeaderOptions,
): Promise<Response | null> {
  const range = await readRange(c, medium)
  const object = await readStoredObject(c, medium.objectKey, range)
  if (!object) return null
  const headers = makeObjectHeaders(medium, object, options)
  const verdict = evaluatePreconditions(c.req.raw.headers, object)
  if (verdict !== "hold" || c.req.method === "HEAD") await object.body?.cancel()
  if (verdict === "failed") throw preconditionFailedProblem(c)
  if (verdict === "unchanged") return new Response(null, { status: 304, headers })
  const sizeBytes = medium.sizeBytes ?? object.sizeBytes
  setContentLengthHeaders(headers, sizeBytes, range)
  const body = c.req.method === "HEAD" ? null : object.body
  return new Response(body, { status: range ? 206 : 200, headers })
}

/** Returns the byte range of an object to send; null for the whole object. */
async function readRange(
  c: AppContext,
  { objectKey, sizeBytes: storedBytes }: MediaObject,
): Promise<RequestedByteRange | null> {
  if (c.req.method !== "GET" || c.req.header("range") === undefined) return null
  const isConditional = c.req.header("if-range") !== undefined
  const object =
    isConditional || storedBytes === undefined ? await c.env.MEDIA.head(objectKey) : null
  const sizeBytes = storedBytes ?? object?.size
  if (sizeBytes === undefined || (isConditional && !object)) return null
  return selectByteRange(c, sizeBytes, object)
}

function makeObjectHeaders(
  medium: MediaObject,
  object: ReadableStoredObject,
  options: DownloadHeaderOptions,
): Headers {
  const { name } = medium
  const contentType = medium.contentType ?? object.contentType ?? DEFAULT_TYPE
  const disposition: ContentDispositionType = INLINE_TYPES.test(contentType)
    ? options.disposition
    : "attachment"
  const headers = sharedHeaders(options)
  headers.set("accept-ranges", "bytes")
  headers.set("content-disposition", contentDisposition(name, { type: disposition }))
  const isLoaded = SCRIPT_OR_STYLE_TYPES.test(contentType)
  headers.set("content-type", isLoaded ? "application/octet-stream" : contentType)
  headers.set("etag", object.httpEtag)
  headers.set("last-modified", object.uploaded.toUTCString())
  return headers
}

/** Returns the response headers that every download has. */
function sharedHeaders({ cacheControl }: DownloadHeaderOptions): Headers {
  return new Headers({
    "access-control-allow-origin": "*",
    "cache-control": cacheControl,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  })
}
