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
 * of a bundle beside its object, all of them as the archive `nameHash`, or a file as its row says.
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
  z.object({ kind: z.literal("row"), accountId: z.string(), fileId: z.string() }),
])

export type Opened = z.infer<typeof opened>

const link = z.object({
  opens: opened,
  expiresAt: z.number(),
  disposition: z.enum(DISPOSITIONS),
})

/** What a download link opens until a moment, shown or saved. */
export type Link = z.infer<typeof link>

/** What a link to a stored file, or to a member of it, opens. */
export async function openedOf(file: File): Promise<Opened> {
  const { objectKey, bundle, bundleObjectKey, completedAt, sizeBytes } = file
  if (objectKey === null || sizeBytes === null) return rowOf(file)
  if (bundle?.kind === "playlist") return { kind: "playlist", objectKey }
  const nameHash = await hashName(file.name)
  if (bundle) {
    if (bundleObjectKey === null) return rowOf(file)
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

function rowOf({ accountId, id }: File): Opened {
  return { kind: "row", accountId, fileId: id }
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
  if (text.includes(".")) return readEarlierLink(text)
  const bytes = fromBase64Url(text)
  return bytes && link.parse(JSON.parse(new TextDecoder().decode(bytes)))
}

/** A link of an earlier version, which may live for days. */
function readEarlierLink(text: string): Link | null {
  const [accountId = "", fileId = "", expiresAt, disposition] = text.split(".")
  const opens = { kind: "row", accountId, fileId }
  return link.safeParse({ opens, expiresAt: Number(expiresAt), disposition }).data ?? null
}
