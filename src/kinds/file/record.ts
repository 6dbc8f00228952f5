import { z } from "zod"
import { probeResult } from "../../contract/probe.ts"
import { sha256Text } from "../../contract/sha256.ts"
import { NOT_MEDIA_WARNING } from "../../contract/warning.ts"
import type { Progress } from "../../domain/progress.ts"
import type { FileWithJob } from "../../domain/snapshot.ts"
import type { FileSource } from "../../domain/states.ts"
import { isNotMedia } from "../required-streams.ts"
import {
  bundleFields,
  bundleFieldSchemas,
  fileUrl,
  toLinkableFile,
  publicUrlField,
  publicUrlSchema,
} from "../file-links.ts"
import {
  expiryField,
  jobFields,
  jobFieldSchemas,
  statusFields,
  statusFieldSchemas,
} from "../shared-record-fields.ts"

/**
 * Schema of the field `source` in the File record. Fetched media are not Files, so that `fetch` is
 * not allowed.
 */
export const fileSource = z.enum(
  ["upload", "import", "output"] satisfies FileSource[],
  "expected one of upload, import, output",
)

/**
 * Schema of the File record. A File that is an output or an input of another job has no job fields
 * such as `progress`.
 */
export const fileRecord = z
  .object({
    ...statusFieldSchemas,
    name: z.string(),
    source: fileSource,
    source_url: z.string().optional().meta({ description: "URL of an import, as in its request." }),
    download_url: z.url(),
    public_url: publicUrlSchema,
    size_bytes: z.int().nullable(),
    content_type: z.string().nullable(),
    sha256: sha256Text.optional().meta({
      description: "SHA-256 of the bytes, if the service computed it while it received them.",
    }),
    duration_seconds: z.number().optional(),
    ...bundleFieldSchemas,
    ffprobe: probeResult.nullable().meta({
      description: "The probe; null until the File is probed, and of a File that is no media.",
    }),
    ffprobe_error: z
      .string()
      .optional()
      .meta({ description: "Why there is no probe, in the words of ffprobe." }),
    ...z.object(jobFieldSchemas).partial().shape,
  })
  .meta({ id: "File" })

export type FileRecord = z.infer<typeof fileRecord>

export function viewFile(
  base: string,
  { file, job, expiresAt }: FileWithJob,
  progress: Progress | null,
): FileRecord {
  const linked = toLinkableFile(file)
  return {
    ...statusFields(file),
    name: file.name,
    source: fileSource.parse(file.source),
    ...(file.sourceUrl !== null && { source_url: file.sourceUrl }),
    download_url: fileUrl(base, file),
    ...publicUrlField(base, linked),
    size_bytes: file.sizeBytes,
    content_type: file.contentType,
    ...(file.sha256 !== null && { sha256: file.sha256 }),
    ...(file.bundle?.durationSeconds !== undefined && {
      duration_seconds: file.bundle.durationSeconds,
    }),
    ...bundleFields(base, linked),
    ffprobe: file.probe,
    ...(file.probeError !== null && { ffprobe_error: file.probeError }),
    ...(job ? jobFields(job, progress) : isNotMedia(file) && { warnings: [NOT_MEDIA_WARNING] }),
    ...expiryField(expiresAt),
  }
}
