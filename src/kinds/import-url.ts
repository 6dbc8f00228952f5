import { isSiteAllowed } from "../contract/allowed-site.ts"
import { isS3Url, readS3Url } from "../contract/s3-url.ts"
import { checkUserUrl, NOT_WEB } from "../contract/user-url.ts"
import { describeAddress } from "../hints/addresses.ts"
import { nameOfKey, nameOfUrl } from "./file-name.ts"
import { isOwnUrl } from "./own-url.ts"

export const IMPORT_URL_LENGTH_MAX = 8192

/** A URL that something is brought in from: as it is asked, as it was given, and what it names. */
export type ImportUrl = { url: string; sourceUrl: string; name: string }

/** What a URL is judged by beside itself. */
export type ImportRules = {
  /** This deployment's own, of which nothing is brought in. */
  origin: string
  allowedHosts: readonly string[]
  /** The only sites to bring in from; all where there is none. */
  sites: readonly string[]
  /** The buckets whose objects may be brought in; none: the web alone is meant. */
  buckets?: readonly string[]
}

/** Reads a URL that something is to be brought in from, or says why it cannot be. */
export function readImportUrl(text: string, rules: ImportRules): ImportUrl | { error: string } {
  if (rules.buckets && isS3Url(text)) return readObjectUrl(text, rules.buckets)
  const named = URL.parse(text)
  const place = { use: "import", origin: rules.origin } as const
  if (/^svc_id:/i.test(text) || (named && isOwnUrl(named, rules.origin))) {
    return { error: describeAddress(text, place) }
  }
  const checked = checkUserUrl(text, rules.allowedHosts)
  if ("error" in checked) {
    return checked.error === NOT_WEB ? { error: describeAddress(text, place) } : checked
  }
  const { url } = checked
  if (!isSiteAllowed(url, rules.sites)) {
    const error = `the operator of this service lets nothing be fetched from "${url.hostname}"`
    return { error }
  }
  const [sourceUrl = text] = text.split("#", 1)
  return { url: url.href, sourceUrl, name: nameOfUrl(url) }
}

/** What a URL that was read names, as far as that can be told from it alone. */
export function nameOfSource(text: string): string {
  const object = isS3Url(text) ? readS3Url(text) : null
  return object && "keys" in object ? nameOfKey(object.keys) : nameOfUrl(new URL(text))
}

function readObjectUrl(text: string, buckets: readonly string[]): ImportUrl | { error: string } {
  const object = readS3Url(text)
  if ("error" in object) return object
  if (!buckets.includes(object.bucket)) {
    const error = `this service reads only from the buckets that its operator lists (S3_SOURCES), and "${object.bucket}" is not one of them`
    return { error }
  }
  return { url: text, sourceUrl: text, name: nameOfKey(object.keys) }
}
