import { z } from "zod"
import { makeStoredBundleZipName } from "../contract/bundle.ts"
import {
  fromBase64Url,
  signText,
  toBase64Url,
  verifyTextSignature,
} from "../platform/crypto/signature.ts"
import { sha256Hex } from "../platform/crypto/sha256.ts"
import type { File } from "../db/schema/files.ts"

const PURPOSE = "link"

const DISPOSITIONS = ["attachment", "inline"] as const
export type ContentDispositionType = (typeof DISPOSITIONS)[number]

/**
 * Length of the hash of a file name in hexadecimal digits: half of a SHA-256. The download link
 * ends with the full file name.
 */
const NAME_HASH_LENGTH = 32

/**
 * Target of a download link: a file, the members of a playlist, or all members of a bundle as a ZIP
 * archive. The service sends the target without a read of D1. `nameHash` is the hash of the file
 * name with which the link must end.
 */
const linkTarget = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("file"),
    objectKey: z.string(),
    nameHash: z.string(),
    contentType: z.string(),
    sizeBytes: z.number(),
  }),
  z.object({ kind: z.literal("playlist"), objectKey: z.string() }),
  z.object({
    kind: z.literal("series"),
    objectKey: z.string(),
    nameHash: z.string(),
    bundleObjectKey: z.string(),
    completedAt: z.number(),
  }),
])

export type DownloadLinkTarget = z.infer<typeof linkTarget>

const link = z.object({
  opens: linkTarget,
  expiresAt: z.number(),
  disposition: z.enum(DISPOSITIONS),
})

/** Content of a download link: its target, expiry and Content-Disposition. */
export type DownloadLink = z.infer<typeof link>

/**
 * Returns the target of a download link that ends with `name`: a file, the members of a playlist,
 * or the members of a bundle as a ZIP archive. Returns null if the file is not stored in R2.
 */
export async function findDownloadLinkTarget(
  file: File,
  name: string,
): Promise<DownloadLinkTarget | null> {
  const { objectKey, bundle, bundleObjectKey, completedAt, sizeBytes } = file
  if (objectKey === null || sizeBytes === null) return null
  const archive = makeStoredBundleZipName(file.name)
  if (bundle?.kind === "playlist" && name !== archive) return { kind: "playlist", objectKey }
  const nameHash = await hashFileName(bundle ? archive : file.name)
  if (bundle) {
    if (bundleObjectKey === null) return null
    const facts = { objectKey, nameHash, bundleObjectKey, completedAt: completedAt ?? 0 }
    return { kind: "series", ...facts }
  }
  const contentType = file.contentType ?? "application/octet-stream"
  return { kind: "file", objectKey, nameHash, contentType, sizeBytes }
}

/** Returns the hash of a file name that a link target contains as `nameHash`. */
export async function hashFileName(name: string): Promise<string> {
  return (await sha256Hex(name)).slice(0, NAME_HASH_LENGTH)
}

/** Creates the signed token of a download link. The token is safe in a URL path. */
export async function makeDownloadToken(secret: string, link: DownloadLink): Promise<string> {
  const text = toBase64Url(new TextEncoder().encode(JSON.stringify(link)))
  return `${text}.${await signText(secret, PURPOSE, text)}`
}

/**
 * Returns the link that a token contains, even if the link has expired. Returns null if the token's
 * signature is invalid.
 */
export async function verifyDownloadToken(
  secret: string,
  token: string,
): Promise<DownloadLink | null> {
  const at = token.lastIndexOf(".")
  const text = token.slice(0, Math.max(0, at))
  if (!(await verifyTextSignature(secret, PURPOSE, { text, signature: token.slice(at + 1) })))
    return null
  const bytes = fromBase64Url(text)
  return bytes && link.parse(JSON.parse(new TextDecoder().decode(bytes)))
}
