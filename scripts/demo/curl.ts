/** The words of curl that send the key. */
export const AUTH = '-H "X-API-Key: $KEY"'

/** The words of curl that send a file as the field `file`. */
export function fileField(path: string): string {
  return `-F ${quoted(`file=@"${path.replace(/["\\]/g, "\\$&")}"`)}`
}

/** A word as a shell takes it literally. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
