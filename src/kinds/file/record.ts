import { z } from "zod"
import { probeResult } from "../../contract/probe.ts"
import { sha256Text } from "../../contract/sha256.ts"
import type { Progress } from "../../rpc.ts"
import type { FileWithJob } from "../../storage/files.ts"
import type { FileSource } from "../../storage/schema/states.ts"
import { bundleFields, bundleFieldSchemas, fileUrl, publicUrl } from "../file-links.ts"
import {
  expiryField,
  jobFields,
  jobFieldSchemas,
  recordHead,
  recordHeadSchemas,
} from "../record-fields.ts"

/** Where the Files of an account come from; what a fetch made is none of them. */
export const fileSource = z.enum(
  ["upload", "import", "output"] satisfies FileSource[],
  "expected one of upload, import, output",
)

/** The File record. One that was an output, or came with another job as its input, has none of a job's fields. */
export const fileRecord = z
  .object({
    ...recordHeadSchemas,
    name: z.string(),
    source: fileSource,
    source_url: z
      .string()
      .optional()
      .meta({ description: "The URL of an import, as it was given." }),
    download_url: z.url(),
    public_url: z.url().optional().meta({
      description: "Where whoever knows the address reads the file, once it is published.",
    }),
    size_bytes: z.int().nullable(),
    content_type: z.string().nullable(),
    sha256: sha256Text
      .optional()
      .meta({ description: "Of the bytes, where it was computed on their way in." }),
    duration_seconds: z.number().optional(),
    ...bundleFieldSchemas,
    ffprobe: probeResult.optional(),
    ffprobe_error: z.string().optional(),
    ...z.object(jobFieldSchemas).partial().shape,
  })
  .meta({ id: "File" })

export type FileRecord = z.infer<typeof fileRecord>

export function viewFile(
  base: string,
  { file, job, expiresAt }: FileWithJob,
  progress: Progress | null,
): FileRecord {
  return {
    ...recordHead(file),
    name: file.name,
    source: fileSource.parse(file.source),
    ...(file.sourceUrl !== null && { source_url: file.sourceUrl }),
    download_url: fileUrl(base, file),
    ...(file.publishedAt !== null && { public_url: publicUrl(base, file) }),
    size_bytes: file.sizeBytes,
    content_type: file.contentType,
    ...(file.sha256 !== null && { sha256: file.sha256 }),
    ...(file.bundle?.durationSeconds !== undefined && {
      duration_seconds: file.bundle.durationSeconds,
    }),
    ...(file.bundle && bundleFields(base, file.id, file.bundle)),
    ...(file.probe && { ffprobe: file.probe }),
    ...(file.probeError !== null && { ffprobe_error: file.probeError }),
    ...(job && jobFields(job, progress)),
    ...expiryField(expiresAt),
  }
}
