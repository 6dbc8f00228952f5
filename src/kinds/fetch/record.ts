import { z } from "zod"
import { AUDIO_FORMATS, MEDIA_KEY, QUALITIES } from "../../contract/tasks/fetch.ts"
import type { Progress } from "../../rpc.ts"
import type { Job, JobResult } from "../../storage/schema/jobs.ts"
import { fetchedUrl, fileUrl } from "../file-links.ts"
import { jobOutput, viewOutputs } from "../job-record.ts"
import type { Retention } from "../../retention.ts"
import {
  expiryOf,
  jobFields,
  jobFieldSchemas,
  recordHead,
  recordHeadSchemas,
  toDateTime,
} from "../record-fields.ts"

/** What of the request its job keeps. */
const keptRequest = z.object({
  url: z.string(),
  quality: z.enum(QUALITIES),
  audio_format: z.enum(AUDIO_FORMATS).optional(),
})

/** The Fetch record; what there is to download is there until `expires_at`. */
export const fetchRecord = z
  .object({
    ...recordHeadSchemas,
    ...keptRequest.shape,
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
      .array(jobOutput)
      .optional()
      .meta({ description: "The renditions, where some were asked for; they are Files." }),
    ...jobFieldSchemas,
  })
  .meta({ id: "Fetch" })

export type FetchRecord = z.infer<typeof fetchRecord>

export function viewFetch(
  base: string,
  job: Job,
  { progress, retention }: { progress: Progress | null; retention: Retention },
): FetchRecord {
  const { result } = job
  const isKept = result !== null && !isExpired(job, retention)
  return {
    ...recordHead(job),
    ...keptRequest.parse(job.request),
    subtitles: isKept ? viewSubtitles(base, job.id, result) : [],
    ...(result && viewMedia(base, job.id, result, isKept)),
    ...(result && makesRenditions(result) && { outputs: viewRenditions(base, job) }),
    ...jobFields(job, progress),
    ...(result && { expires_at: toDateTime(mediaExpiryOf(job, retention)) }),
  }
}

/** Whether an output of this key is what was fetched, and not a rendition of it. */
export function isFetched(key: string): boolean {
  return key === MEDIA_KEY || key.startsWith("subtitles_")
}

/** Whether what a fetch made is no longer kept. */
export function isExpired(job: Job, retention: Retention): boolean {
  if (job.mediaRemovedAt !== null) return true
  return mediaExpiryOf(job, retention) <= retention.now
}

/** Whether the request of a fetch came with cookies, which its job does not keep. */
export function hadCookies(request: unknown): boolean {
  return z.object({ cookies: z.literal(true) }).safeParse(request).success
}

/** What was fetched goes with its job at the latest. */
function mediaExpiryOf(job: Job, { fetchedMs }: Retention): number {
  const { completedAt, createdAt } = job
  return Math.min((completedAt ?? createdAt) + fetchedMs, expiryOf(job) ?? Infinity)
}

function viewMedia(base: string, jobId: string, { outputs, fetched }: JobResult, isKept: boolean) {
  const media = outputs.find(({ key }) => key === MEDIA_KEY)
  const durationSeconds = media?.durationSeconds ?? fetched?.durationSeconds ?? null
  return {
    title: fetched?.title ?? null,
    ...(durationSeconds !== null && { duration_seconds: durationSeconds }),
    ...(media && {
      ...(isKept && { download_url: fetchedUrl(base, jobId, media.name) }),
      size_bytes: media.sizeBytes,
      content_type: media.contentType,
      ...(media.width !== undefined && { width: media.width }),
      ...(media.height !== undefined && { height: media.height }),
      ...(media.rotation !== undefined && { rotation: media.rotation }),
    }),
  }
}

function makesRenditions({ outputs }: JobResult): boolean {
  return outputs.some(({ key }) => !isFetched(key))
}

function viewRenditions(base: string, job: Job) {
  return viewOutputs(job, ({ fileId, name }) => fileUrl(base, { id: fileId, name }))
}

function viewSubtitles(base: string, jobId: string, { outputs, fetched }: JobResult) {
  const names = new Map(outputs.map(({ key, name }) => [key, name]))
  return (fetched?.subtitles ?? []).flatMap(({ key, language }) => {
    const name = names.get(key)
    return name === undefined ? [] : [{ language, url: fetchedUrl(base, jobId, name) }]
  })
}
