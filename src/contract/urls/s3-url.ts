/**
 * Object that an `s3://bucket/key` URL names. `keys` lists the object keys to try: first the
 * literal key, then the percent-decoded key.
 */
export type S3Object = { bucket: string; keys: readonly string[] }

/** Maximum length of an object key in S3, in bytes. */
const KEY_BYTES_MAX = 1024

/** Reports whether a text begins like an `s3:` URL, even if the URL is invalid. */
export function isS3Url(text: string): boolean {
  return /^s3:/i.test(text)
}

/**
 * Parses a URL of the form `s3://bucket/key`. The key is everything after the bucket, including `?`
 * and `#`, as in common S3 clients. A percent-encoded key may also mean the decoded key.
 */
export function parseS3Url(text: string): S3Object | { error: string } {
  const [, bucket, key] = /^s3:\/\/([^/]*)\/?([^]*)$/i.exec(text) ?? []
  if (!bucket || !key) return { error: "expected s3://bucket/key" }
  const decoded = decode(key)
  const keys = [key, ...(decoded === null ? [] : [decoded])]
  const usable = keys.filter((candidate) => judgeKey(candidate) === null)
  if (usable.length === 0) return { error: judgeKey(key) ?? "expected s3://bucket/key" }
  return { bucket, keys: usable }
}

/** Percent-encodes an S3 object key for a URL, except its slashes. */
export function encodeS3Key(key: string): string {
  return key.split("/").map(encodeUriSegment).join("/")
}

/** Percent-encodes all characters that RFC 3986 reserves, as signatures of S3 require. */
export function encodeUriSegment(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function judgeKey(key: string): string | null {
  if (!key.isWellFormed() || /\p{Cc}/u.test(key)) {
    return "expected a key of valid Unicode without control characters"
  }
  if (new TextEncoder().encode(key).length > KEY_BYTES_MAX) {
    return `expected a key of at most ${KEY_BYTES_MAX} bytes`
  }
  if (key.endsWith("/")) return "expected the key of an object; a key that ends in / is a folder"
  // Refuses keys with the segments `.` and `..`, because URL parsers resolve these segments and so
  // change the key.
  const isRelative = key.split("/").some((segment) => segment === "." || segment === "..")
  return isRelative ? "expected a key without the segments . and .." : null
}

/** Decodes a percent-encoded S3 key; null if the key is malformed or has nothing to decode. */
function decode(key: string): string | null {
  try {
    const decoded = decodeURIComponent(key)
    return decoded === key ? null : decoded
  } catch {
    return null
  }
}
