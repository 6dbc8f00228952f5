import { z } from "zod"
import {
  audioFormat,
  loudness,
  NORMALIZATION_TYPES,
  NORMALIZED_OUTPUT_KEY,
} from "../../contract/tasks/normalize.ts"
import type { Progress } from "../../domain/progress.ts"
import type { Job, JobResult } from "../../db/schema/jobs.ts"
import { fileUrl } from "../file-links.ts"
import { jobOutput, viewOutputs } from "../job-record.ts"
import { normalizedDownloadName } from "./names.ts"
import { storedInput } from "../stored-input.ts"
import {
  fileIdsField,
  fileIdsFieldSchema,
  jobFields,
  jobFieldSchemas,
  statusFields,
  statusFieldSchemas,
} from "../shared-record-fields.ts"

/** Schema of the normalization request's fields that the job stores and the record shows. */
const storedRequestFields = storedInput.extend({
  loudnorm_i: z.number(),
  loudnorm_lra: z.number(),
  loudnorm_tp: z.number(),
})

/** Schema of the source's name in a stored request. Jobs of earlier versions have no name. */
export const storedSourceNameSchema = z.object({ source_name: z.string().catch("") })

/** Schema of the fields that the Normalization record has only after success. */
const resultFields = z.object({
  download_url: z.url(),
  size_bytes: z.int(),
  content_type: z.string(),
  outputs: z
    .array(jobOutput)
    .meta({ description: "The result as a File, with its id; the `id` above is the job's." }),
  duration_seconds: z.number().optional(),
  measurements: z.object({ before: loudness, after: loudness }).meta({
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
  converted_from: audioFormat
    .nullable()
    .meta({ description: "Container and codec of the input, if the output could not keep them." }),
})

/** Schema of the Normalization record. */
export const normalizationRecord = z
  .object({
    ...statusFieldSchemas,
    ...storedRequestFields.shape,
    total_processing_seconds: z.number().min(0),
    ...fileIdsFieldSchema,
    ...resultFields.partial().shape,
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
    ...statusFields(job),
    ...storedRequestFields.parse(job.request),
    total_processing_seconds: job.processingMs / 1000,
    ...fileIdsField(job),
    ...(job.result && viewResult(base, job, job.result)),
    ...jobFields(job, progress),
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
    download_url: fileUrl(base, { id: output.fileId, name: normalizedDownloadName(output) }),
    size_bytes: output.sizeBytes,
    content_type: output.contentType,
    outputs: viewOutputs(base, job),
    ...(output.durationSeconds !== undefined && { duration_seconds: output.durationSeconds }),
    ...measured,
    ...format,
  }
}
