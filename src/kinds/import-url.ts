import type { PrivateHeaders } from "../contract/urls/private-headers.ts"
import { isSiteAllowed } from "../contract/urls/allowed-site.ts"
import { isS3Url, parseS3Url } from "../contract/urls/s3-url.ts"
import { parseUserUrl, isAllowedHost, NOT_WEB_URL_ERROR } from "../contract/urls/user-url.ts"
import { describeAddressFault } from "../hints/addresses.ts"
import { makeFileNameFromS3ObjectKeys, fileNameFromUrl } from "./file-name.ts"
import { isUrlOfDeployment } from "../domain/own-url.ts"

export const IMPORT_URL_LENGTH_MAX = 8192

/**
 * URL of an import. `url` is normalized for the request, `sourceUrl` is the URL as the caller wrote
 * it, `name` is the file name in the URL, and `headers` are the caller's request headers.
 */
export type ImportUrl = { url: string; sourceUrl: string; name: string; headers?: PrivateHeaders }

/** Rules for the URL of an import, from the settings of this deployment and from the request. */
export type ImportRules = {
  /** Origin of this deployment, whose own URLs cannot be imported. */
  origin: string
  allowedHosts: readonly string[]
  /** Sites from which imports are allowed. An empty list allows every site. */
  sites: readonly string[]
  /**
   * S3 buckets from which imports are allowed. If the list is absent, only web URLs are allowed.
   */
  buckets?: readonly string[]
  /** Whether the request has headers for the URL. */
  hasHeaders?: boolean
}

/** Parses the URL of an import. Returns an error if the rules do not allow the URL. */
export function parseImportUrl(text: string, rules: ImportRules): ImportUrl | { error: string } {
  if (rules.buckets && isS3Url(text)) return readObjectUrl(text, rules.buckets)
  if (rules.hasHeaders && isS3Url(text)) {
    return { error: "expected an https URL, because objects of stores take no headers" }
  }
  const parsedUrl = URL.parse(text)
  const place = { use: "import", origin: rules.origin } as const
  if (/^svc_id:/i.test(text) || (parsedUrl && isUrlOfDeployment(parsedUrl, rules.origin))) {
    return { error: describeAddressFault(text, place) }
  }
  const checked = parseUserUrl(text, rules.allowedHosts)
  if ("error" in checked) {
    return checked.error === NOT_WEB_URL_ERROR
      ? { error: describeAddressFault(text, place) }
      : checked
  }
  const { url } = checked
  if (!isSiteAllowed(url, rules.sites)) {
    const error = `the operator of this service does not allow downloads from "${url.hostname}"`
    return { error }
  }
  const error = rules.hasHeaders ? judgePrivateUrl(url, rules.allowedHosts) : null
  if (error !== null) return { error }
  const [sourceUrl = text] = text.split("#", 1)
  return { url: url.href, sourceUrl, name: fileNameFromUrl(url) }
}

/**
 * Hosts with web pages that yt-dlp can download. Other hosts of these sites, such as APIs, serve
 * files.
 */
const PAGE_SITES =
  /^(?:(?:www|m|music|old|web)\.)?(?:dailymotion\.com|facebook\.com|instagram\.com|reddit\.com|soundcloud\.com|tiktok\.com|twitch\.tv|twitter\.com|vimeo\.com|x\.com|youtu\.be|youtube\.com)$/
/** Paths of web pages and of playlist manifests, which yt-dlp can download. */
const PAGE_PATHS = /\.(?:html?|m3u8|mpd)$/i

/**
 * Returns the reason why the service refuses request headers for a URL, judged by the URL alone;
 * null if headers are allowed. Hosts in `allowedHosts` may use http, because the operator trusts
 * their network.
 */
function judgePrivateUrl(url: URL, allowedHosts: readonly string[]): string | null {
  if (url.protocol !== "https:" && !isAllowedHost(url, allowedHosts)) {
    return "expected an https URL, because http sends headers unencrypted"
  }
  if (!PAGE_SITES.test(url.hostname) && !PAGE_PATHS.test(url.pathname)) return null
  return "expected the URL of a file, because pages and playlist manifests get no headers"
}

/** Returns the file name in the URL of an import, which `parseImportUrl` has accepted. */
export function fileNameFromImportUrl(text: string): string {
  const object = isS3Url(text) ? parseS3Url(text) : null
  return object && "keys" in object
    ? makeFileNameFromS3ObjectKeys(object.keys)
    : fileNameFromUrl(new URL(text))
}

function readObjectUrl(text: string, buckets: readonly string[]): ImportUrl | { error: string } {
  const object = parseS3Url(text)
  if ("error" in object) return object
  if (!buckets.includes(object.bucket)) {
    const error = `this service reads only from the buckets that its operator lists (S3_SOURCES), and "${object.bucket}" is not one of them`
    return { error }
  }
  return { url: text, sourceUrl: text, name: makeFileNameFromS3ObjectKeys(object.keys) }
}
