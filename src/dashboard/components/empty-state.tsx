import type { Child } from "hono/jsx"

/** Placeholder for an empty list, with a title and the next step. */
export function EmptyState(props: { title: string; children?: Child }) {
  return (
    <div class="empty-state">
      <p class="empty-state-title">{props.title}</p>
      {props.children}
    </div>
  )
}
