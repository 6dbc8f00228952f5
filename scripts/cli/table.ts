import Table from "cli-table3"

const LINES = ["top", "bottom", "left", "right", "mid"]
const CORNERS = ["top-mid", "top-left", "top-right", "bottom-mid", "bottom-left", "bottom-right"]
const CROSSINGS = ["left-mid", "mid-mid", "right-mid", "middle"]
const NO_BORDERS = Object.fromEntries(
  [...LINES, ...CORNERS, ...CROSSINGS].map((name) => [name, ""]),
)

/** Formats rows as lines of text. Each column is as wide as its widest cell. */
export function formatTable(rows: string[][]): string {
  const table = new Table({
    chars: NO_BORDERS,
    style: { "padding-left": 0, "padding-right": 2, head: [], border: [] },
  })
  table.push(...rows)
  return table.toString().replaceAll(/ +$/gm, "")
}
