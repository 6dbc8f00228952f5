import type { Child } from "hono/jsx"

/** A column: its heading, or a heading whose cells are numbers and stand at the right. */
export type Column = string | { title: string; isNumeric: true }

/**
 * A table whose rows become blocks of labelled cells on a phone, headed by their first cell; one
 * whose columns are to be compared scrolls inside itself instead. The caption names it to screen
 * readers; the column called "Actions" has no visible heading. The roles say what the elements are
 * where their display would hide it.
 */
export function Table(props: {
  caption: string
  columns: readonly Column[]
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
  /** What stands above a cell whose heading is out of sight. */
  label: string | undefined
}

function describeColumn(column: Column): ShownColumn {
  const { title, isNumeric = false } = typeof column === "string" ? { title: column } : column
  if (title === "Actions") return { title, cellClass: "row-actions", label: undefined }
  return { title, cellClass: isNumeric ? "numeric" : undefined, label: title }
}
