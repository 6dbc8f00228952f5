const NAME_BYTES_MAX = 200
const FALLBACK = "video"

/**
 * A file's name of a title: in one line, without slashes, control characters and leading dots, of at
 * most 200 bytes with its extension, which stays whole.
 */
export function fileNameOf(title: string | null, extension: string): string {
  const cleaned = (title ?? "")
    .normalize("NFC")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]+/gu, " ")
    .replaceAll(/[/\\:*?"<>|]+/g, "-")
    .replaceAll(/\s+/g, " ")
    .replace(/^[\s.]+/, "")
  const stem = cutToBytes(cleaned, NAME_BYTES_MAX - Buffer.byteLength(extension) - 1)
  return `${stem.replace(/[\s.]+$/, "") || FALLBACK}.${extension}`
}

/** The beginning of a text that has at most so many bytes in UTF-8, without half a character. */
function cutToBytes(text: string, bytesMax: number): string {
  let bytes = 0
  let end = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    bytes += Buffer.byteLength(segment)
    if (bytes > bytesMax) break
    end += segment.length
  }
  return text.slice(0, end)
}
