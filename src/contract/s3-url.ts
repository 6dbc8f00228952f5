/** An object that an `s3://bucket/key` may name: the key as it stands and, after it, as decoded. */
export type S3Object = { bucket: string; keys: readonly string[] }

/** S3 takes no longer key. */
const KEY_BYTES_MAX = 1024

/** Whether a text is meant as the URL of an object in a store, well-formed or not. */
export function isS3Url(text: string): boolean {
  return /^s3:/i.test(text)
}

/**
 * Reads `s3://bucket/key`. All behind the bucket is the key, `?` and `#` too, as tools of S3 take it;
 * what is percent-encoded may also mean the key that it decodes to.
 */
export function readS3Url(text: string): S3Object | { error: string } {
  const [, bucket, key] = /^s3:\/\/([^/]*)\/?([^]*)$/i.exec(text) ?? []
  if (!bucket || !key) return { error: "expected s3://bucket/key" }
  const decoded = decode(key)
  const keys = [key, ...(decoded === null ? [] : [decoded])]
  const usable = keys.filter((each) => judgeKey(each) === null)
  if (usable.length === 0) return { error: judgeKey(key) ?? "expected s3://bucket/key" }
  return { bucket, keys: usable }
}

/** A key in a URL, which no reader takes for anything else. */
export function encodeKey(key: string): string {
  return key.split("/").map(encodeSegment).join("/")
}

/** Encodes all that RFC 3986 gives a meaning, as signatures of S3 do. */
export function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function judgeKey(key: string): string | null {
  if (!key.isWellFormed() || /\p{Cc}/u.test(key)) {
    return "expected a key of whole characters, none of them a control character"
  }
  if (new TextEncoder().encode(key).length > KEY_BYTES_MAX) {
    return `expected a key of at most ${KEY_BYTES_MAX} bytes`
  }
  if (key.endsWith("/"))
    return "expected the key of an object, and one that ends in / is a folder's"
  // Whoever reads a URL leaves such segments out, and the one before them.
  const isRelative = key.split("/").some((segment) => segment === "." || segment === "..")
  return isRelative ? "expected a key without the segments . and .." : null
}

/** What a percent-encoded key means; null where it means itself, or nothing. */
function decode(key: string): string | null {
  try {
    const decoded = decodeURIComponent(key)
    return decoded === key ? null : decoded
  } catch {
    return null
  }
}
