import { createMiddleware } from "hono/factory"
import type { Fault } from "../../../domain/faults.ts"
import type { UploadRequestFields } from "../../../db/schema/uploads.ts"
import { sanitizeFileName } from "../../../kinds/file-name.ts"
import { fileFormFieldsSchema } from "../../../kinds/file/request.ts"
import type { AppContext, AppEnv } from "../../context.ts"
import { detectContentType } from "../../input/multipart.ts"
import { safeParseBody } from "../../input/request.ts"
import { Problem, invalidFieldsProblem } from "../../output/problem.ts"

/** Version of the tus protocol that the service supports. */
const TUS_VERSION = "1.0.0"

/** Media type of the body of a tus request. */
export const TUS_BODY_MEDIA_TYPE = "application/offset+octet-stream"

/** Algorithm names of `crypto.DigestStream`, by the algorithm names of the tus protocol. */
const DIGESTS = { md5: "MD5", sha1: "SHA-1", sha256: "SHA-256", sha512: "SHA-512" } as const

/** Response headers by which a tus server describes its features. */
const DESCRIPTION = {
  "tus-version": TUS_VERSION,
  "tus-extension": "creation,creation-with-upload,expiration,termination,checksum",
  "tus-checksum-algorithm": Object.keys(DIGESTS).join(","),
}

/**
 * Middleware that sets the tus version on every response. Responds to OPTIONS requests other than
 * CORS preflights.
 */
export const sendTusHeaders = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === "OPTIONS" && c.req.header("access-control-request-method") === undefined) {
    return c.body(null, 204, { ...DESCRIPTION, "tus-resumable": TUS_VERSION })
  }
  await next()
  c.res.headers.set("tus-resumable", TUS_VERSION)
  return undefined
})

/**
 * Throws 400 for a request without a tus version, and 412 for a request with another tus version.
 */
export function requireTusVersion(c: AppContext): void {
  const version = c.req.header("tus-resumable")
  if (version === TUS_VERSION) return
  if (version === undefined) {
    throw malformed("Tus-Resumable", `expected the version of the protocol, ${TUS_VERSION}`)
  }
  throw new Problem(
    "precondition_failed",
    `Tus-Resumable: the request has the version \`${version.slice(0, 20)}\`; expected ${TUS_VERSION}.`,
    { headers: { "tus-version": TUS_VERSION } },
  )
}

/**
 * Reads the size of a new upload in bytes from `Upload-Length`; throws 400 for a missing or
 * malformed header.
 */
export function readUploadLength(c: AppContext): number {
  if (c.req.header("upload-defer-length") !== undefined) {
    throw malformed("Upload-Defer-Length", "the service needs the size at once, as Upload-Length")
  }
  if (c.req.header("upload-concat") !== undefined) {
    throw malformed("Upload-Concat", "the service does not join uploads; send one upload")
  }
  const sizeBytes = readCount(c, "Upload-Length", "the size of the file in bytes")
  if (sizeBytes === 0) throw malformed("Upload-Length", "the file is empty")
  return sizeBytes
}

/**
 * Reads the offset of a PATCH in bytes from `Upload-Offset`; throws 400 for a missing or malformed
 * header.
 */
export function readUploadOffset(c: AppContext): number {
  return readCount(c, "Upload-Offset", "the number of bytes that the upload has, as HEAD shows it")
}

function readCount(c: AppContext, name: string, meaning: string): number {
  const text = c.req.header(name) ?? ""
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw malformed(name, `expected ${meaning}`)
}

/** Checksum that the body of a request must have. */
export type UploadChecksum = {
  algorithm: (typeof DIGESTS)[keyof typeof DIGESTS]
  digest: Uint8Array
}

/**
 * Reads the checksum of a request from `Upload-Checksum`; null without the header. Throws 400 for a
 * malformed header.
 */
export function readUploadChecksum(c: AppContext): UploadChecksum | null {
  const text = c.req.header("upload-checksum")
  if (text === undefined) return null
  const [name = "", encoded = "", ...more] = text.trim().split(/ +/)
  const algorithm = new Map<string, UploadChecksum["algorithm"]>(Object.entries(DIGESTS)).get(name)
  const digest = decodeBase64(encoded)
  if (algorithm && digest && digest.length > 0 && more.length === 0) return { algorithm, digest }
  const message = `expected one of ${Object.keys(DIGESTS).join(", ")}, a space and the digest in Base64`
  throw malformed("Upload-Checksum", message)
}

/** Properties of the file, from the header `Upload-Metadata` of a new upload. */
export type UploadMetadata = {
  name: string
  contentType: string
  fields: UploadRequestFields
  /** Value of the header `Upload-Metadata` as the client sent it. */
  header: string
}

const metadataFields = fileFormFieldsSchema.omit({ file_url: true })
const FIELD_NAMES = new Set(Object.keys(metadataFields.shape))

/**
 * Reads the header `Upload-Metadata`: `filename`, `filetype`, and the fields of POST /files.
 * Ignores other names, which clients add for their own use. Throws 400 for a malformed header, 422
 * for an invalid field.
 */
export function readUploadMetadata(c: AppContext): UploadMetadata {
  const header = c.req.header("upload-metadata") ?? ""
  const values = parseMetadata(header)
  const texts = [...values].filter(([name]) => FIELD_NAMES.has(name))
  const checked = safeParseBody(metadataFields, Object.fromEntries(texts))
  if ("faults" in checked) throw invalidFieldsProblem(checked.faults.map(inMetadata))
  const name = sanitizeFileName(values.get("filename") ?? values.get("name") ?? "")
  const contentType = detectContentType(name, values.get("filetype") ?? values.get("type"))
  return { name, contentType, fields: checked.data, header }
}

function inMetadata({ field, ...fault }: Fault): Fault {
  return { ...fault, field: `Upload-Metadata.${field}` }
}

/**
 * Parses the header `Upload-Metadata`: pairs of a name and an optional value in Base64, separated
 * by commas.
 */
function parseMetadata(header: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const pair of header.split(",")) {
    const [name = "", encoded = "", ...more] = pair.trim().split(/ +/)
    if (name === "" && header.trim() === "") continue
    const bytes = decodeBase64(encoded)
    if (name === "" || !bytes || more.length > 0 || values.has(name)) {
      const message =
        "expected pairs of a name and a value in Base64, separated by commas, such as `filename ZmlsbS5tcDQ=`"
      throw malformed("Upload-Metadata", message)
    }
    values.set(name, new TextDecoder().decode(bytes))
  }
  return values
}

function decodeBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
  } catch {
    return null
  }
}

function malformed(header: string, message: string): Problem {
  return new Problem("invalid_request", `${header}: ${message}`, {
    details: [{ field: header, message }],
  })
}
