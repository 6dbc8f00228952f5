import { z } from "zod"
import {
  audioFormat,
  loudness,
  NORMALIZATION_TYPES,
  NORMALIZED_KEY,
} from "../../contract/tasks/normalize.ts"
import type { Progress } from "../../rpc.ts"
import type { Job, JobResult } from "../../storage/schema/jobs.ts"
import { fileUrl } from "../file-links.ts"
import { keptInput } from "../kept-input.ts"
import { jobFields, jobFieldSchemas, recordHead, recordHeadSchemas } from "../record-fields.ts"

/** What of the request its job keeps, and the File that its input is. */
const keptRequest = keptInput.extend({
  loudnorm_i: z.number(),
  loudnorm_lra: z.number(),
  loudnorm_tp: z.number(),
})

/** What there is to say once the sound was normalized. */
const made = z.object({
  download_url: z.url(),
  size_bytes: z.int(),
  content_type: z.string(),
  duration_seconds: z.number().optional(),
  measurements: z.object({ before: loudness, after: loudness }).meta({
    description: "Loudness of the first audio stream, measured by EBU R 128.",
  }),
  normalization_type: z.enum(NORMALIZATION_TYPES).meta({
    description:
      "`linear`: one gain for all of it. `dynamic`: gains that follow the sound or limit it. `none`: it is as it was.",
  }),
  target_reached: z.boolean().meta({
    description:
      "Whether every audio stream that can be measured has the target loudness and peak; of silence false.",
  }),
  container: z.string(),
  codec: z.string(),
  converted_from: audioFormat
    .nullable()
    .meta({ description: "The input's container and codec where they could not be kept." }),
})

/** The Normalization record. */
export const normalizationRecord = z
  .object({
    ...recordHeadSchemas,
    ...keptRequest.shape,
    total_processing_seconds: z.number().min(0),
    ...made.partial().shape,
    ...jobFieldSchemas,
  })
  .meta({ id: "Normalization" })

export type NormalizationRecord = z.infer<typeof normalizationRecord>

export function viewNormalization(
  base: string,
  job: Job,
  progress: Progress | null,
): NormalizationRecord {
  return {
    ...recordHead(job),
    ...keptRequest.parse(job.request),
    total_processing_seconds: job.processingMs / 1000,
    ...(job.result && viewMade(base, job.result)),
    ...jobFields(job, progress),
  }
}

function viewMade(base: string, { outputs, normalized }: JobResult): Partial<z.infer<typeof made>> {
  const output = outputs.find(({ key }) => key === NORMALIZED_KEY)
  if (!output || !normalized) return {}
  const { format, ...measured } = normalized
  return {
    download_url: fileUrl(base, { id: output.fileId, name: output.name }),
    size_bytes: output.sizeBytes,
    content_type: output.contentType,
    ...(output.durationSeconds !== undefined && { duration_seconds: output.durationSeconds }),
    ...measured,
    ...format,
  }
}
