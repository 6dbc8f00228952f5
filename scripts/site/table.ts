/**
 * Returns a Markdown table. Cells are Markdown: line breaks become spaces, and bars are escaped.
 */
export function makeMarkdownTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [columns, columns.map(() => "---"), ...rows]
  return lines.map((cells) => `| ${cells.map(cellOf).join(" | ")} |`).join("\n")
}

function cellOf(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", "\\|")
}
