import { z } from "zod"
import { member } from "../contract/bundle.ts"
import { databaseNumberOf } from "../ids.ts"
import type { ListedMember } from "./kind.ts"

/** Address of a file: its name percent-encoded. */
export function fileUrl(base: string, file: { id: string; name: string }): string {
  return `${base}/files/${file.id}/${encodeURIComponent(file.name)}`
}

/** Address at which whoever knows it reads a published file; it names the database of the file's row. */
export function publicUrl(
  base: string,
  { id, name, accountId }: { id: string; name: string; accountId: string },
): string {
  const database = databaseNumberOf(accountId)
  return `${base.replace(/\/v1$/, "")}/public/${database}/${id}/${encodeURIComponent(name)}`
}

/** Address of what the tools of a job said. */
export function logUrl(base: string, jobId: string): string {
  return `${base}/jobs/${jobId}/log`
}

/** Address of what a fetch made, its name percent-encoded. */
export function fetchedUrl(base: string, fetchId: string, name: string): string {
  return `${base}/fetch/${fetchId}/${encodeURIComponent(name)}`
}

/** Address of a transcript in one of its formats, by its name. */
export function transcriptUrl(base: string, transcriptionId: string, name: string): string {
  return `${base}/transcribe/${transcriptionId}/${encodeURIComponent(name)}`
}

/** One of the files of a bundle, as records show it. */
const memberRecord = member.omit({ crc32: true, name: true }).extend({
  name: z.string(),
  download_url: z.url(),
  entry: z
    .literal(true)
    .optional()
    .meta({ description: "There where it is the `playlist` that a player begins with." }),
})

/** What records say of a bundle: which of its files a player begins with, and all of them. */
export const bundleFieldSchemas = {
  playlist: z
    .string()
    .optional()
    .meta({ description: "The name of the playlist among `files` that a player begins with." }),
  files: z.array(memberRecord).optional(),
}

type ListedBundle = { playlist?: string | undefined; members?: ListedMember[] | undefined }

export function bundleFields(base: string, fileId: string, { playlist, members }: ListedBundle) {
  return {
    ...(playlist !== undefined && { playlist }),
    ...(members && { files: members.map((each) => viewMember(base, fileId, each, playlist)) }),
  }
}

function viewMember(
  base: string,
  fileId: string,
  { name, size_bytes, content_type }: ListedMember,
  playlist?: string,
): z.infer<typeof memberRecord> {
  const download_url = fileUrl(base, { id: fileId, name })
  const shown = { name, download_url, size_bytes, content_type }
  return name === playlist ? { ...shown, entry: true } : shown
}
