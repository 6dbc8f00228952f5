import { z } from "zod"
import {
  audioFormatSchema,
  loudnessSchema,
  NORMALIZATION_TYPES,
  NORMALIZED_OUTPUT_KEY,
} from "../../contract/tasks/normalize.ts"
import type { Progress } from "../../domain/progress.ts"
import type { Job, JobResult } from "../../db/schema/jobs.ts"
import { buildFileUrl } from "../file-links.ts"
import { jobOutputSchema, buildOutputRecords } from "../job-record.ts"
import { normalizedDownloadName } from "./names.ts"
import { storedInputSchema } from "../stored-input.ts"
import {
  buildFileIdsField,
  fileIdsFieldSchema,
  buildJobFields,
  jobFieldSchemas,
  buildStatusFields,
  statusFieldSchemas,
} from "../shared-record-fields.ts"

/** Schema of the normalization request's fields that the job stores and the record shows. */
const storedRequestFields = storedInputSchema.extend({
  loudnorm_i: z.number(),
  loudnorm_lra: z.number(),
  loudnorm_tp: z.number(),
})

/** Schema of the source's name in a stored request; empty for jobs of versions without it. */
export const storedSourceNameSchema = z.object({ source_name: z.string().catch("") })

/** Schema of the fields that the Normalization record has only after success. */
const resultFields = z.object({
  download_url: z.url(),
  size_bytes: z.int(),
  content_type: z.string(),
  outputs: z
    .array(jobOutputSchema)
    .meta({ description: "The result as a File, with its id; the `id` above is the job's." }),
  duration_seconds: z.number().optional(),
  measurements: z.object({ before: loudnessSchema, after: loudnessSchema }).meta({
    description: "Loudness of the first audio stream, measured by EBU R 128.",
  }),
  normalization_type: z.enum(NORMALIZATION_TYPES).meta({
    description:
      "`linear`: one gain for the whole audio. `dynamic`: a varying gain or a limiter. `none`: unchanged audio.",
  }),
  target_reached: z.boolean().meta({
    description:
      "True if every measurable audio stream has the target loudness and peak. False for silence.",
  }),
  container: z.string(),
  codec: z.string(),
  converted_from: audioFormatSchema
    .nullable()
    .meta({ description: "Container and codec of the input, if the output could not keep them." }),
})

/** Schema of the Normalization record. */
export const normalizationRecordSchema = z
  .object({
    ...statusFieldSchemas,
    ...storedRequestFields.shape,
    total_processing_seconds: z.number().min(0),
    ...fileIdsFieldSchema,
    ...resultFields.partial().shape,
    ...jobFieldSchemas,
  })
  .meta({ id: "Normalization" })

export type NormalizationRecord = z.infer<typeof normalizationRecordSchema>

export function buildNormalizationRecord(
  base: string,
  job: Job,
  progress: Progress | null,
): NormalizationRecord {
  return {
    ...buildStatusFields(job),
    ...storedRequestFields.parse(job.request),
    total_processing_seconds: job.processingMs / 1000,
    ...buildFileIdsField(job),
    ...(job.result && viewResult(base, job, job.result)),
    ...buildJobFields(job, progress),
  }
}

function viewResult(
  base: string,
  job: Job,
  { outputs, normalized }: JobResult,
): Partial<z.infer<typeof resultFields>> {
  const output = outputs.find(({ key }) => key === NORMALIZED_OUTPUT_KEY)
  if (!output || !normalized) return {}
  const { format, ...measured } = normalized
  return {
    download_url: buildFileUrl(base, { id: output.fileId, name: normalizedDownloadName(output) }),
    size_bytes: output.sizeBytes,
    content_type: output.contentType,
    outputs: buildOutputRecords(base, job),
    ...(output.durationSeconds !== undefined && { duration_seconds: output.durationSeconds }),
    ...measured,
    ...format,
  }
}
