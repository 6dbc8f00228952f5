/** Cuts a text of more than `lengthMax` characters to that length, and appends `…`. */
export function cutText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}
