import mime from "mime"
import type { Member } from "../contract/bundle.ts"

const NAME_LENGTH_MAX = 200

/** The name of a stored file from the name that a caller gave: its last segment, made harmless. */
export function fileNameOf(given: string): string {
  const segment = given.split(/[/\\]/).at(-1) ?? ""
  const name = segment
    .toWellFormed()
    .normalize("NFC")
    // Control characters, and those that turn or hide text.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .trim()
  return /^\.*$/.test(name) ? "file" : shorten(name)
}

/** Media type of a file by its name; where that says nothing, a medium that its caller named. */
export function contentTypeOf(name: string, named = ""): string {
  const medium = /^(?:video|audio|image)\/[\w.+-]+$/.exec(named)?.[0]
  return mime.getType(name) ?? medium ?? "application/octet-stream"
}

/** Address of a file: its name percent-encoded. */
export function fileUrl(base: string, file: { id: string; name: string }): string {
  return `${base}/files/${file.id}/${encodeURIComponent(file.name)}`
}

/** One of the files of a bundle, as records show it. */
export function viewMember(base: string, fileId: string, member: Omit<Member, "crc32">) {
  const { name, size_bytes, content_type } = member
  return { name, download_url: fileUrl(base, { id: fileId, name }), size_bytes, content_type }
}

function shorten(name: string): string {
  if (name.length <= NAME_LENGTH_MAX) return name
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ""
  return name.slice(0, NAME_LENGTH_MAX - extension.length).toWellFormed() + extension
}
