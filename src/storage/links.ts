import { z } from "zod"
import { fromBase64Url, sign, toBase64Url, verify } from "../crypto/signature.ts"
import { sha256Hex } from "../crypto/sha256.ts"
import type { File } from "./schema/files.ts"

const PURPOSE = "link"

const DISPOSITIONS = ["attachment", "inline"] as const
export type Disposition = (typeof DISPOSITIONS)[number]

/** Half of a SHA-256: the name itself stands at the end of the link, however long it is. */
const NAME_HASH_LENGTH = 32

/**
 * What a link opens, without a read of D1: an object under the one name that has `nameHash`, members
 * of a bundle beside its object, or all of them as the archive `nameHash`.
 */
const opened = z.discriminatedUnion("kind", [
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

export type Opened = z.infer<typeof opened>

const link = z.object({
  opens: opened,
  expiresAt: z.number(),
  disposition: z.enum(DISPOSITIONS),
})

/** What a download link opens until a moment, shown or saved. */
export type Link = z.infer<typeof link>

/** The content of a link to a file, or to a member of it; null where the file is not stored. */
export async function openedOf(file: File): Promise<Opened | null> {
  const { objectKey, bundle, bundleObjectKey, completedAt, sizeBytes } = file
  if (objectKey === null || sizeBytes === null) return null
  if (bundle?.kind === "playlist") return { kind: "playlist", objectKey }
  const nameHash = await hashName(file.name)
  if (bundle) {
    if (bundleObjectKey === null) return null
    const facts = { objectKey, nameHash, bundleObjectKey, completedAt: completedAt ?? 0 }
    return { kind: "series", ...facts }
  }
  const contentType = file.contentType ?? "application/octet-stream"
  return { kind: "file", objectKey, nameHash, contentType, sizeBytes }
}

/** A hash by which a link knows the name of what it opens. */
export async function hashName(name: string): Promise<string> {
  return (await sha256Hex(name)).slice(0, NAME_HASH_LENGTH)
}

/** The token of a link, made to stand in a path. */
export async function makeLinkToken(secret: string, made: Link): Promise<string> {
  const text = toBase64Url(new TextEncoder().encode(JSON.stringify(made)))
  return `${text}.${await sign(secret, PURPOSE, text)}`
}

/** The link of a token, expired or not; null where a character of it was changed. */
export async function readLinkToken(secret: string, token: string): Promise<Link | null> {
  const at = token.lastIndexOf(".")
  const text = token.slice(0, Math.max(0, at))
  if (!(await verify(secret, PURPOSE, { text, signature: token.slice(at + 1) }))) return null
  const bytes = fromBase64Url(text)
  return bytes && link.parse(JSON.parse(new TextDecoder().decode(bytes)))
}
