import { getSettings } from "../../../bindings/env.ts"
import type { AppContext } from "../../context.ts"
import type { ByteRange, ObjectVersion } from "./conditions.ts"

/** Object in R2, or in Cloudflare's cache, with the bytes that were asked for. */
export type OpenObject = ObjectVersion & {
  /** Size of the whole object. */
  sizeBytes: number
  contentType: string | undefined
  body: ReadableStream | null
}

/** Size above which Cloudflare's cache refuses a response, on every plan but Enterprise. */
const CACHED_BYTES_MAX = 512 * 1024 * 1024

/**
 * Opens an object, or one range of it. With `OBJECT_CACHE_SECONDS`, answers from Cloudflare's cache
 * where it has the object, and otherwise lets it keep the object. Returns null if the object is
 * missing.
 */
export async function openObject(
  c: AppContext,
  objectKey: string,
  range: ByteRange | null,
): Promise<OpenObject | null> {
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
    // A failure only means that the next request reads R2 again.
    c.executionCtx.waitUntil(keepInCache(c, objectKey, seconds).catch(() => undefined))
  }
  return { sizeBytes, httpEtag, uploaded, contentType: httpMetadata?.contentType, body }
}

/** Returns the time for which the cache keeps objects; 0 without a cache, as on `workers.dev`. */
function readCacheSeconds(c: AppContext): number {
  const isWithoutCache = new URL(c.req.url).hostname.endsWith(".workers.dev")
  return isWithoutCache ? 0 : getSettings(c.env).OBJECT_CACHE_SECONDS
}

/** Returns the URL under which the cache has an object, whatever link names it. */
function cacheUrl(c: AppContext, objectKey: string): string {
  return new URL(`/objects/${encodeURIComponent(objectKey)}`, c.req.url).href
}

/**
 * Reads the object from R2 once more, for the cache. A copy of the response's stream would grow in
 * memory at the pace of a slow client.
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
  range: ByteRange | null,
): Promise<OpenObject | null> {
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
