/** Object of an `s3://bucket/key` URL, and the keys to try: literal, then percent-decoded. */
export type S3Object = { bucket: string; keys: readonly string[] }

/** Maximum length of an object key in S3, in bytes. */
const KEY_BYTES_MAX = 1024

/** Reports whether a text is an `s3:` URL, valid or not. */
export function isS3Url(text: string): boolean {
  return /^s3:/i.test(text)
}

/**
 * Reads `s3://bucket/key`. The key is everything after the bucket, including `?` and `#`, as in
 * tools of S3. A percent-encoded key may also mean its decoded form.
 */
export function readS3Url(text: string): S3Object | { error: string } {
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
  // URL parsers resolve the segments `.` and `..`, which would change the key.
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
