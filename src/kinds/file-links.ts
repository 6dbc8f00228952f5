import { z } from "zod"
import { makeStoredBundleZipName, bundleMemberSchema } from "../contract/bundle.ts"
import type { File } from "../db/schema/files.ts"
import type { Job, JobResult } from "../db/schema/jobs.ts"
import { readDatabaseNumber } from "../platform/ids.ts"
import type { BundleMemberSummary } from "./kind.ts"

/** Builds the download URL of a file. The file's name is percent-encoded in the URL. */
export function buildFileUrl(base: string, file: { id: string; name: string }): string {
  return `${base}/files/${file.id}/${encodeURIComponent(file.name)}`
}

/** Builds the URL of the log that a job's tools wrote. */
export function buildLogUrl(base: string, jobId: string): string {
  return `${base}/jobs/${jobId}/log`
}

/** Builds the download URL of a fetch output. The output's name is percent-encoded in the URL. */
export function buildFetchOutputUrl(base: string, fetchId: string, name: string): string {
  return `${base}/fetch/${fetchId}/${encodeURIComponent(name)}`
}

/** Builds the download URL of a transcript. The file name selects the format of the transcript. */
export function buildTranscriptUrl(base: string, transcriptionId: string, name: string): string {
  return `${base}/transcribe/${transcriptionId}/${encodeURIComponent(name)}`
}

/** Properties of a stored file from which records build the URLs of the file. */
export type LinkableFile = {
  id: string
  accountId: string
  name: string
  isPublic: boolean
  /** Name of the ZIP archive of a bundle; absent for a plain file. */
  archive?: string | undefined
  /**
   * Name of the playlist that a player opens first; absent if the file is not a playlist bundle.
   */
  playlist?: string | undefined
  /** Members of a bundle; absent for a plain file and in lists. */
  members?: BundleMemberSummary[] | undefined
}

/** Converts the row of a stored file to the properties that its URLs need. */
export function toLinkableFile({ id, accountId, name, publishedAt, bundle }: File): LinkableFile {
  const file = { id, accountId, name, isPublic: publishedAt !== null }
  return bundle ? { ...file, ...bundle, archive: makeStoredBundleZipName(name) } : file
}

/** Fields of a job from which records build the URLs of the job's outputs. */
export type JobForOutputLinks = Pick<Job, "accountId" | "publish" | "state">

/** Converts an output that is a file of the account to the properties that its URLs need. */
export function outputToLinkableFile(
  { accountId, publish, state }: JobForOutputLinks,
  { fileId, name, archive, playlist, files }: JobResult["outputs"][number],
): LinkableFile {
  const isPublic = publish === true && state === "succeeded"
  return { id: fileId, accountId, name, isPublic, archive, playlist, members: files }
}

/**
 * Builds the public URL of a published file, or of the playlist of a published bundle. The URL
 * needs no API key.
 */
export function buildPublicUrl(base: string, file: LinkableFile): string {
  return publicNameUrl(base, file, file.playlist ?? file.name)
}

/**
 * Builds the public URL of a file or of a bundle's member. The URL contains the number of the
 * database that has the file's row.
 */
function publicNameUrl(base: string, { id, accountId }: LinkableFile, name: string): string {
  const database = readDatabaseNumber(accountId)
  return `${base.replace(/\/v1$/, "")}/public/${database}/${id}/${encodeURIComponent(name)}`
}

/** Schema of the field `public_url` in records. */
export const publicUrlSchema = z.url().optional().meta({
  description:
    "The URL of a published file, which needs no key; for a bundle with a playlist it is the URL of the playlist.",
})

/** Schema of a member of a bundle in records. */
const memberRecord = bundleMemberSchema.omit({ crc32: true, name: true }).extend({
  name: z.string(),
  download_url: z.url(),
  public_url: z.url().optional().meta({
    description: "The URL of the file, which needs no key; present while the bundle is published.",
  }),
  entry: z
    .literal(true)
    .optional()
    .meta({ description: "True for the `playlist`, which a player opens first." }),
})

/**
 * Schema of the field `archive_url` in records: the URL of a ZIP archive with all files of a
 * bundle.
 */
export const archiveUrlSchema = z.url().optional().meta({
  description:
    "The URL of a ZIP with all files of a bundle. It needs no key while the bundle is published, and a key otherwise.",
})

/** Schemas of the record fields that only bundles have: archive, playlist and files. */
export const bundleFieldSchemas = {
  archive_url: archiveUrlSchema,
  playlist: z
    .string()
    .optional()
    .meta({ description: "Name of the playlist in `files` that a player opens first." }),
  files: z.array(memberRecord).optional(),
}

/** Returns the field `public_url` of a published file; an empty object for a private file. */
export function buildPublicUrlField(base: string, file: LinkableFile): { public_url?: string } {
  return file.isPublic ? { public_url: buildPublicUrl(base, file) } : {}
}

/** Returns the field `archive_url` of a bundle; an empty object for a plain file. */
export function buildArchiveUrlField(base: string, file: LinkableFile): { archive_url?: string } {
  const { id, archive: name, isPublic } = file
  if (name === undefined) return {}
  return {
    archive_url: isPublic ? publicNameUrl(base, file, name) : buildFileUrl(base, { id, name }),
  }
}

/** Returns the record fields that only bundles have; an empty object for a plain file. */
export function buildBundleFields(base: string, file: LinkableFile) {
  const { playlist, members } = file
  return {
    ...buildArchiveUrlField(base, file),
    ...(playlist !== undefined && { playlist }),
    ...(members && { files: members.map((each) => viewMember(base, file, each)) }),
  }
}

function viewMember(
  base: string,
  file: LinkableFile,
  { name, size_bytes, content_type }: BundleMemberSummary,
): z.infer<typeof memberRecord> {
  return {
    name,
    download_url: buildFileUrl(base, { id: file.id, name }),
    ...(file.isPublic && { public_url: publicNameUrl(base, file, name) }),
    size_bytes,
    content_type,
    ...(name === file.playlist && { entry: true as const }),
  }
}
