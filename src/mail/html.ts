const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

/** The text of a mail as a page of html: its paragraphs, and its links. */
export function toHtml(text: string): string {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => {
    const lines = escapeHtml(paragraph).replaceAll("\n", "<br>")
    return `<p>${lines.replaceAll(/https?:\/\/[^\s<]+/g, '<a href="$&">$&</a>')}</p>`
  })
  return `<!doctype html><html lang="en"><body>${paragraphs.join("")}</body></html>`
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}
