/** The beginning of a text as a sentence shows it: of one that is longer, so many characters and `…`. */
export function cutText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}
