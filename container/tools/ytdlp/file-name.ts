const NAME_BYTES_MAX = 200
const FALLBACK = "video"

/** Control characters, halves of characters, and what changes the direction of text or breaks lines. */
const UNSEEN = /[\p{Cc}\p{Cs}\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/gu

/**
 * A file's name of a title: in one line, without slashes, control characters and leading dots, of at
 * most 200 bytes with its extension, which stays whole.
 */
export function fileNameOf(title: string | null, extension: string): string {
  const cleaned = (title ?? "")
    .normalize("NFC")
    .replaceAll(UNSEEN, " ")
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
