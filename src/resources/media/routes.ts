import { create as contentDisposition } from "content-disposition"
import { Hono } from "hono"
import type { Member } from "../../contract/bundle.ts"
import { settingsOf } from "../../env.ts"
import type { App, AppContext } from "../../http/request.ts"
import { guardMethods } from "../../http/methods.ts"
import { notFound, Problem } from "../../http/problem.ts"
import { databaseOf } from "../../storage/database.ts"
import { findFile, findLargeMember, findStored } from "../../storage/files.ts"
import { readLinkToken } from "../../storage/links.ts"
import type { Disposition, Link } from "../../storage/links.ts"
import { memberObjectKey } from "../../storage/objects.ts"
import type { File } from "../../storage/schema/files.ts"
import { wholeFile } from "../../storage/whole-rows.ts"
import { sendArchive } from "./archive.ts"
import { parseRange } from "./range.ts"

/** One object of R2 as it is sent. */
type Medium = { name: string; objectKey: string; sizeBytes: number; contentType: string }

/** Media types that a browser may show as they are; others are saved, whatever the link says. */
const SHOWN_TYPES =
  /^(?:video|audio)\/|^image\/(?!svg)|^text\/(?:plain|vtt)(?:;|$)|^application\/json$/

/**
 * Media types that a page of this origin could load as a script or a style: the policy of pages lets
 * on what this origin serves, and whoever may upload is not to write for them.
 */
const LOADED_TYPES = /^(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script|^text\/css/i

export const media = new Hono<App>()

media.get("/:token/:name", async (c) => {
  const link = await openLink(c)
  const name = c.req.param("name")
  const database = databaseOf(c.env, link.accountId)
  const names = [name, rawNameOf(c)]
  const found = await findStored(database, link.fileId, names)
  if (!found) throw notFound("file")
  const { file } = found
  if (file.bundle?.kind === "series" && name === file.name) {
    const whole = await findFile(database, link.fileId)
    if (!whole) throw notFound("file")
    return await sendArchive(c, await wholeFile(c.env.MEDIA, whole.file), sharedHeaders(link))
  }
  const member = found.member ?? (await findLargeMember(c.env.MEDIA, file, names))
  const medium = mediumOf(file, member)
  if (!medium || (!file.bundle && file.name !== name)) throw notFound("file")
  return await sendMedium(c, medium, link)
})

guardMethods(media)

/** The name as it stands in the address: a playlist may have a `%` in it that means itself. */
function rawNameOf(c: AppContext): string {
  return new URL(c.req.url).pathname.split("/").at(-1) ?? ""
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

async function openLink(c: AppContext): Promise<Link> {
  const settings = settingsOf(c.env)
  const link = await readLinkToken(settings.LATHE_SECRET, c.req.param("token") ?? "")
  if (!link)
    throw new Problem("invalid_signature", "The link was changed or is not of this service.")
  if (link.expiresAt <= Date.now()) {
    throw new Problem("link_expired", "The link has expired; get a new one from the download_url.")
  }
  return link
}

async function sendMedium(c: AppContext, medium: Medium, link: Link): Promise<Response> {
  const { objectKey, sizeBytes } = medium
  const range = await readRange(c, objectKey, sizeBytes)
  const object = await c.env.MEDIA.get(objectKey, {
    onlyIf: preconditions(c),
    ...(range && { range: { offset: range.start, length: range.end - range.start + 1 } }),
  })
  if (!object) throw notFound("file")
  const headers = headersOf(medium, object, link)
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

function headersOf({ name, contentType }: Medium, object: R2Object, link: Link): Headers {
  const shown: Disposition = SHOWN_TYPES.test(contentType) ? link.disposition : "attachment"
  const headers = sharedHeaders(link)
  headers.set("accept-ranges", "bytes")
  headers.set("content-disposition", contentDisposition(name, { type: shown }))
  const isLoaded = LOADED_TYPES.test(contentType)
  headers.set("content-type", isLoaded ? "application/octet-stream" : contentType)
  headers.set("etag", object.httpEtag)
  headers.set("last-modified", object.uploaded.toUTCString())
  return headers
}

/** What every download says, of whatever it is. */
function sharedHeaders(link: Link): Headers {
  const secondsLeft = Math.max(0, Math.floor((link.expiresAt - Date.now()) / 1000))
  return new Headers({
    "access-control-allow-origin": "*",
    "cache-control": `private, max-age=${secondsLeft}`,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  })
}
