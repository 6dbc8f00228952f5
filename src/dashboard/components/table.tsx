import type { Child } from "hono/jsx"

/** Column of a table: its heading, and whether its cells are right-aligned numbers. */
export type TableColumn = string | { title: string; isNumeric: true }

/**
 * Table with a caption for screen readers. On narrow screens each row becomes a block of labelled
 * cells; with `comparesColumns`, the table scrolls instead. The heading of the column "Actions" is
 * invisible. The ARIA roles are explicit because CSS `display` removes the implicit roles.
 */
export function Table(props: {
  caption: string
  columns: readonly TableColumn[]
  rows: readonly (readonly Child[])[]
  empty?: Child
  comparesColumns?: boolean
}) {
  const { caption, rows, empty, comparesColumns = false } = props
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>
  const columns = props.columns.map(describeColumn)
  return (
    <div class="table-scroll" role="region" aria-label={caption} tabindex={0}>
      <table role="table" class={comparesColumns ? undefined : "stacked"}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr role="row">
            {columns.map(({ title, cellClass }) => (
              <th scope="col" role="columnheader" class={cellClass}>
                {title === "Actions" ? <span class="visually-hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr role="row">
              {cells.map((cell, at) => (
                <td role="cell" class={columns[at]?.cellClass} data-label={columns[at]?.label}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type ShownColumn = {
  title: string
  cellClass: string | undefined
  /** Label above the cell on narrow screens, where the header row is hidden. */
  label: string | undefined
}

function describeColumn(column: TableColumn): ShownColumn {
  const { title, isNumeric = false } = typeof column === "string" ? { title: column } : column
  if (title === "Actions") return { title, cellClass: "row-actions", label: undefined }
  return { title, cellClass: isNumeric ? "numeric" : undefined, label: title }
}
