import { z } from "zod"
import {
  FETCH_AUDIO_FORMATS,
  FETCHED_MEDIA_OUTPUT_KEY,
  FETCH_QUALITIES,
} from "../../contract/tasks/fetch.ts"
import type { Progress } from "../../domain/progress.ts"
import type { Job, JobResult } from "../../db/schema/jobs.ts"
import { buildFetchOutputUrl } from "../file-links.ts"
import { jobOutputSchema, buildOutputRecords } from "../job-record.ts"
import type { RetentionSettings } from "../../domain/retention.ts"
import {
  computeJobExpiry,
  buildFileIdsField,
  fileIdsFieldSchema,
  buildJobFields,
  jobFieldSchemas,
  buildStatusFields,
  statusFieldSchemas,
  toDateTime,
} from "../shared-record-fields.ts"

/** Schema of the fetch request's fields that the job stores and the record shows. */
const storedRequestFields = z.object({
  url: z.string(),
  quality: z.enum(FETCH_QUALITIES),
  audio_format: z.enum(FETCH_AUDIO_FORMATS).optional(),
})

/** Schema of the Fetch record. The media can be downloaded until `expires_at`. */
export const fetchRecordSchema = z
  .object({
    ...statusFieldSchemas,
    ...storedRequestFields.shape,
    download_url: z.url().optional(),
    subtitles: z.array(z.object({ language: z.string(), url: z.url() })),
    title: z.string().nullish(),
    duration_seconds: z.number().optional(),
    size_bytes: z.int().optional(),
    content_type: z.string().optional(),
    width: z.int().optional(),
    height: z.int().optional(),
    rotation: z.int().optional(),
    outputs: z
      .array(jobOutputSchema)
      .optional()
      .meta({ description: "The renditions as Files, if the request has `transcode`." }),
    ...fileIdsFieldSchema,
    ...jobFieldSchemas,
  })
  .meta({ id: "Fetch" })

export type FetchRecord = z.infer<typeof fetchRecordSchema>

export function buildFetchRecord(
  base: string,
  job: Job,
  { progress, retention }: { progress: Progress | null; retention: RetentionSettings },
): FetchRecord {
  const { result } = job
  const isKept = result !== null && !areFetchedMediaExpired(job, retention)
  return {
    ...buildStatusFields(job),
    ...storedRequestFields.parse(job.request),
    subtitles: isKept ? viewSubtitles(base, job.id, result) : [],
    ...(result && viewMedia(base, job.id, result, isKept)),
    ...(result && makesRenditions(result) && { outputs: buildOutputRecords(base, job) }),
    ...buildFileIdsField(job),
    ...buildJobFields(job, progress),
    ...(result && { expires_at: toDateTime(computeMediaExpiry(job, retention)) }),
  }
}

/**
 * Reports whether the output with this key is downloaded media or subtitles, and not a rendition.
 */
export function isFetchedOutput(key: string): boolean {
  return key === FETCHED_MEDIA_OUTPUT_KEY || key.startsWith("subtitles_")
}

/** Reports whether the media of a fetch have expired, or were removed before their expiry. */
export function areFetchedMediaExpired(job: Job, retention: RetentionSettings): boolean {
  if (job.mediaRemovedAt !== null) return true
  return computeMediaExpiry(job, retention) <= retention.now
}

/** Reports whether a fetch request had cookies. Its job stores `cookies: true` in their place. */
export function didFetchRequestHaveCookies(request: unknown): boolean {
  return z.object({ cookies: z.literal(true) }).safeParse(request).success
}

/**
 * Returns the time in milliseconds at which fetched media expire. Media never outlive their job.
 */
function computeMediaExpiry(job: Job, { fetchedMs }: RetentionSettings): number {
  const { completedAt, createdAt } = job
  return Math.min((completedAt ?? createdAt) + fetchedMs, computeJobExpiry(job) ?? Infinity)
}

function viewMedia(base: string, jobId: string, { outputs, fetched }: JobResult, isKept: boolean) {
  const media = outputs.find(({ key }) => key === FETCHED_MEDIA_OUTPUT_KEY)
  const durationSeconds = media?.durationSeconds ?? fetched?.durationSeconds ?? null
  return {
    title: fetched?.title ?? null,
    ...(durationSeconds !== null && { duration_seconds: durationSeconds }),
    ...(media && {
      ...(isKept && { download_url: buildFetchOutputUrl(base, jobId, media.name) }),
      size_bytes: media.sizeBytes,
      content_type: media.contentType,
      ...(media.width !== undefined && { width: media.width }),
      ...(media.height !== undefined && { height: media.height }),
      ...(media.rotation !== undefined && { rotation: media.rotation }),
    }),
  }
}

function makesRenditions({ outputs }: JobResult): boolean {
  return outputs.some(({ key }) => !isFetchedOutput(key))
}

function viewSubtitles(base: string, jobId: string, { outputs, fetched }: JobResult) {
  const names = new Map(outputs.map(({ key, name }) => [key, name]))
  return (fetched?.subtitles ?? []).flatMap(({ key, language }) => {
    const name = names.get(key)
    return name === undefined ? [] : [{ language, url: buildFetchOutputUrl(base, jobId, name) }]
  })
}
