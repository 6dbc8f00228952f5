import { env } from "cloudflare:workers"
import { toHex } from "../../../src/platform/crypto/hex.ts"
import type { FetchResult } from "../../../src/contract/tasks/fetch.ts"
import type { MetadataResult, VideoMetadata } from "../../../src/contract/tasks/metadata.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import { createJob } from "../db/create-job.ts"
import { makeOutputObjectKey } from "../../../src/domain/object-keys.ts"
import { draftMetadataLookupJob } from "../../../src/kinds/metadata/plan.ts"
import { findCallerAccountId } from "./bundle.ts"
import type { TestCaller } from "../caller.ts"
import { endOnlyTask } from "../tasks.ts"

const MEDIA = "the media that was fetched"

/** Returns the result of a fetch with subtitles in the given languages. */
export function makeFetchResult(languages: string[] = [], changes: Partial<FetchResult> = {}) {
  const subtitles = languages.map((language, index) => ({
    key: `subtitles_${index + 1}`,
    name: `A clip.${language}.vtt`,
    language,
    size_bytes: 6,
    content_type: "text/vtt",
  }))
  const probe = {
    width: 640,
    height: 360,
    duration: 1.5,
    format_name: "mov,mp4",
    streams: [{ codec_type: "video", codec_name: "h264" }],
    format: { format_name: "mov,mp4" },
  }
  const media = {
    key: "media",
    name: "A clip.mp4",
    size_bytes: MEDIA.length,
    content_type: "video/mp4",
    probe,
  }
  return {
    kind: "fetch" as const,
    title: "A clip",
    duration_seconds: 1.4,
    media,
    subtitles,
    ...changes,
  }
}

/**
 * Stores the media of a fetch job in R2, and ends the job's task with `result`, as its runner
 * would.
 */
export async function finishFetch(
  caller: TestCaller,
  jobId: string,
  result: FetchResult = makeFetchResult(),
): Promise<string> {
  const accountId = await findCallerAccountId(caller)
  const run = await endOnlyTask(accountId, jobId, { result })
  const objectKey = makeOutputObjectKey(accountId, run, "media")
  await env.MEDIA.put(objectKey, MEDIA)
  for (const { key } of result.subtitles) {
    await env.MEDIA.put(makeOutputObjectKey(accountId, run, key), "WEBVTT")
  }
  return objectKey
}

export function makeVideoMetadata(url: string): VideoMetadata {
  return {
    url,
    title: "A clip",
    duration: 1.5,
    view_count: 7,
    like_count: null,
    comment_count: null,
    uploader: "Somebody",
    upload_date: "2026-01-31",
    description: null,
    thumbnail: null,
    is_live: false,
    extractor: "generic",
    formats: [],
  }
}

export function makeMetadataResult(url: string): MetadataResult {
  return { kind: "metadata", metadata: makeVideoMetadata(url) }
}

/**
 * Creates a finished lookup (a job that reads a page's metadata), so that the account has cached
 * metadata of the page.
 */
export async function storeMetadataLookup(caller: TestCaller, url: string): Promise<void> {
  const accountId = await findCallerAccountId(caller)
  const { href } = new URL(url)
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(href))
  const draft = draftMetadataLookupJob(href, {
    origin: "https://lathe.test",
    now: Date.now(),
    runSecondsMax: 1,
  })
  const urlHash = toHex(digest)
  await createJob(openAccountDatabases(env, accountId), {
    ...draft,
    lookup: { urlHash, replaces: null },
  })
  await endOnlyTask(accountId, draft.job.id, { result: makeMetadataResult(href) })
}
