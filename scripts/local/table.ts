/** Rows of texts as lines, each column as wide as its widest cell. */
export function formatTable(rows: string[][]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  return rows.map((row) => formatRow(row, widths)).join("\n")
}

function formatRow(row: string[], widths: number[]): string {
  return row
    .map((cell, at) => cell.padEnd(widths[at] ?? 0))
    .join("  ")
    .trimEnd()
}
