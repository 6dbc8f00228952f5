import type { Child } from "hono/jsx"

/** Description list: terms with their values. */
export function DescriptionList(props: {
  rows: readonly (readonly [term: string, value: Child])[]
}) {
  return (
    <dl class="facts">
      {props.rows.map(([term, value]) => (
        <div>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
