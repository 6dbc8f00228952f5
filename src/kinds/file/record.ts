import { z } from "zod"
import { probeResultSchema } from "../../contract/probe.ts"
import { sha256HexSchema } from "../../contract/sha256.ts"
import { NOT_MEDIA_WARNING } from "../../contract/warning.ts"
import type { Progress } from "../../domain/progress.ts"
import type { FileWithJob } from "../../domain/snapshot.ts"
import type { FileSource } from "../../domain/states.ts"
import { isNonMediaFile } from "../required-streams.ts"
import {
  buildBundleFields,
  bundleFieldSchemas,
  buildFileUrl,
  toLinkableFile,
  buildPublicUrlField,
  publicUrlSchema,
} from "../file-links.ts"
import {
  buildExpiryField,
  buildJobFields,
  jobFieldSchemas,
  buildStatusFields,
  statusFieldSchemas,
} from "../shared-record-fields.ts"

/**
 * Schema of the field `source` in a file record. The value `fetch` is not allowed, because media
 * that a fetch job downloads are no files of the account.
 */
export const fileSourceSchema = z.enum(
  ["upload", "import", "output"] satisfies FileSource[],
  "expected one of upload, import, output",
)

/**
 * Schema of the file record. The record of a file that is an output or an input of another job has
 * no job fields such as `progress`.
 */
export const fileRecordSchema = z
  .object({
    ...statusFieldSchemas,
    name: z.string(),
    source: fileSourceSchema,
    source_url: z.string().optional().meta({ description: "URL of an import, as in its request." }),
    download_url: z.url(),
    public_url: publicUrlSchema,
    size_bytes: z.int().nullable(),
    content_type: z.string().nullable(),
    sha256: sha256HexSchema.optional().meta({
      description: "SHA-256 of the bytes, if the service computed it while it received them.",
    }),
    duration_seconds: z.number().optional(),
    ...bundleFieldSchemas,
    ffprobe: probeResultSchema.nullable().meta({
      description: "The probe; null until the File is probed, and of a File that is no media.",
    }),
    ffprobe_error: z
      .string()
      .optional()
      .meta({ description: "Why there is no probe, in the words of ffprobe." }),
    ...z.object(jobFieldSchemas).partial().shape,
  })
  .meta({ id: "File" })

export type FileRecord = z.infer<typeof fileRecordSchema>

export function buildFileRecord(
  base: string,
  { file, job, expiresAt }: FileWithJob,
  progress: Progress | null,
): FileRecord {
  const linked = toLinkableFile(file)
  return {
    ...buildStatusFields(file),
    name: file.name,
    source: fileSourceSchema.parse(file.source),
    ...(file.sourceUrl !== null && { source_url: file.sourceUrl }),
    download_url: buildFileUrl(base, file),
    ...buildPublicUrlField(base, linked),
    size_bytes: file.sizeBytes,
    content_type: file.contentType,
    ...(file.sha256 !== null && { sha256: file.sha256 }),
    ...(file.bundle?.durationSeconds !== undefined && {
      duration_seconds: file.bundle.durationSeconds,
    }),
    ...buildBundleFields(base, linked),
    ffprobe: file.probe,
    ...(file.probeError !== null && { ffprobe_error: file.probeError }),
    ...(job
      ? buildJobFields(job, progress)
      : isNonMediaFile(file) && { warnings: [NOT_MEDIA_WARNING] }),
    ...buildExpiryField(expiresAt),
  }
}
