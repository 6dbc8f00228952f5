const NAME_LENGTH_MAX = 200

/**
 * Returns a safe file name: the last path segment of a text, without control and format characters,
 * cut to 200 characters. Returns `file` if no character remains.
 */
export function sanitizeFileName(text: string): string {
  const segment = text.split(/[/\\]/).at(-1) ?? ""
  const name = segment
    .toWellFormed()
    .normalize("NFC")
    // The pattern matches control characters, and characters that reorder or hide text.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .trim()
  return /^\.*$/.test(name) ? "file" : shorten(name)
}

/**
 * Returns a safe file name from the last path segment of a URL. The segment is percent-decoded if
 * its encoding is valid.
 */
export function fileNameFromUrl({ pathname }: URL): string {
  const segment = pathname.split("/").at(-1) ?? ""
  try {
    return sanitizeFileName(decodeURIComponent(segment))
  } catch {
    return sanitizeFileName(segment)
  }
}

/**
 * Returns a safe file name for an S3 object. `keys` has the possible object keys of an S3 URL: the
 * path as written, then the percent-decoded path if there is one. The last key gives the name.
 */
export function makeFileNameFromS3ObjectKeys(keys: readonly string[]): string {
  return sanitizeFileName(keys.at(-1) ?? "")
}

/**
 * Returns the extension of a file name, with the dot; an empty text if the name has no extension.
 */
export function getFileNameExtension(name: string): string {
  return /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ""
}

/**
 * Returns a file name without its extension, cut to `lengthMax` characters. Returns `fallback` if
 * the stem is empty.
 */
export function getFileNameStem(name: string, { lengthMax, fallback }: StemOptions): string {
  const stem = name.slice(0, name.length - getFileNameExtension(name).length).trim()
  return (stem === "" ? fallback : stem).slice(0, lengthMax).toWellFormed().trimEnd()
}

type StemOptions = { lengthMax: number; fallback: string }

function shorten(name: string): string {
  if (name.length <= NAME_LENGTH_MAX) return name
  const extension = getFileNameExtension(name)
  return name.slice(0, NAME_LENGTH_MAX - extension.length).toWellFormed() + extension
}
