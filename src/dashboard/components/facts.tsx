import type { Child } from "hono/jsx"

/** Terms and what is so about each. */
export function Facts(props: { rows: readonly (readonly [term: string, value: Child])[] }) {
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
