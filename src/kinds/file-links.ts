import { z } from "zod"
import { member } from "../contract/bundle.ts"
import type { ListedMember } from "./kind.ts"

/** Address of a file: its name percent-encoded. */
export function fileUrl(base: string, file: { id: string; name: string }): string {
  return `${base}/files/${file.id}/${encodeURIComponent(file.name)}`
}

/** Address at which whoever knows it reads a published file. */
export function publicUrl(base: string, file: { id: string; name: string }): string {
  return `${base.replace(/\/v1$/, "")}/public/${file.id}/${encodeURIComponent(file.name)}`
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
export const memberRecord = member.omit({ crc32: true, name: true }).extend({
  name: z.string(),
  download_url: z.url(),
})

export function viewMember(
  base: string,
  fileId: string,
  { name, size_bytes, content_type }: ListedMember,
): z.infer<typeof memberRecord> {
  return { name, download_url: fileUrl(base, { id: fileId, name }), size_bytes, content_type }
}
