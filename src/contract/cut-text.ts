/**
 * Shortens a text of more than `lengthMax` characters to its first `lengthMax` characters, followed
 * by `…`.
 */
export function cutText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}
