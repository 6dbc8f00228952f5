import { getSettings } from "../../../bindings/env.ts"
import type { AppContext } from "../../context.ts"
import type { RequestedByteRange, DownloadVersion } from "./conditions.ts"

/** Object opened in R2 or in Cloudflare's cache; `body` has the requested bytes. */
export type ReadableStoredObject = DownloadVersion & {
  /** Size of the whole object. */
  sizeBytes: number
  contentType: string | undefined
  body: ReadableStream | null
}

/** Size above which Cloudflare's cache refuses a response, on every plan but Enterprise. */
const CACHED_BYTES_MAX = 512 * 1024 * 1024

/**
 * Opens an object, or a byte range of the object; returns null if the object is missing. With
 * `OBJECT_CACHE_SECONDS`, reads the object from Cloudflare's cache, or else from R2. A GET of a
 * whole object from R2 also adds the object to the cache.
 */
export async function readStoredObject(
  c: AppContext,
  objectKey: string,
  range: RequestedByteRange | null,
): Promise<ReadableStoredObject | null> {
  const seconds = readCacheSeconds(c)
  const cached = seconds > 0 ? await findCached(c, objectKey, range) : null
  if (cached) return cached
  const object = await c.env.MEDIA.get(
    objectKey,
    range ? { range: { offset: range.start, length: range.end - range.start + 1 } } : {},
  )
  if (!object) return null
  const { size: sizeBytes, httpEtag, uploaded, httpMetadata, body } = object
  const isWhole = range === null && c.req.method === "GET"
  if (seconds > 0 && isWhole && sizeBytes <= CACHED_BYTES_MAX) {
    // If the cache write fails, the next request reads R2 again.
    c.executionCtx.waitUntil(keepInCache(c, objectKey, seconds).catch(() => undefined))
  }
  return { sizeBytes, httpEtag, uploaded, contentType: httpMetadata?.contentType, body }
}

/**
 * Returns the time in seconds for which the cache keeps objects; 0 without a cache, as on
 * `workers.dev`.
 */
function readCacheSeconds(c: AppContext): number {
  const isWithoutCache = new URL(c.req.url).hostname.endsWith(".workers.dev")
  return isWithoutCache ? 0 : getSettings(c.env).OBJECT_CACHE_SECONDS
}

/** Returns the cache key URL of an object, which is the same for all links to the object. */
function cacheUrl(c: AppContext, objectKey: string): string {
  return new URL(`/objects/${encodeURIComponent(objectKey)}`, c.req.url).href
}

/**
 * Reads an object from R2 again, and stores the object in the cache. A second branch of the
 * response's stream (`tee`) would buffer in memory while a slow client reads.
 */
async function keepInCache(c: AppContext, objectKey: string, seconds: number): Promise<void> {
  const object = await c.env.MEDIA.get(objectKey)
  if (!object) return
  const headers = {
    "cache-control": `max-age=${seconds}`,
    "content-length": String(object.size),
    etag: object.httpEtag,
    "last-modified": object.uploaded.toUTCString(),
    ...(object.httpMetadata?.contentType && { "content-type": object.httpMetadata.contentType }),
  }
  await caches.default.put(cacheUrl(c, objectKey), new Response(object.body, { headers }))
}

async function findCached(
  c: AppContext,
  objectKey: string,
  range: RequestedByteRange | null,
): Promise<ReadableStoredObject | null> {
  const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {}
  const response = await caches.default.match(new Request(cacheUrl(c, objectKey), { headers }))
  if (!response) return null
  const { status, body } = response
  const sizeText = range
    ? response.headers.get("content-range")?.split("/").at(-1)
    : response.headers.get("content-length")
  const sizeBytes = Number(sizeText ?? Number.NaN)
  const etag = response.headers.get("etag")
  const uploaded = new Date(response.headers.get("last-modified") ?? "")
  if (status !== (range ? 206 : 200) || Number.isNaN(sizeBytes) || etag === null) {
    await body?.cancel()
    return null
  }
  const contentType = response.headers.get("content-type") ?? undefined
  return { sizeBytes, httpEtag: etag, uploaded, contentType, body }
}
