import type { Child } from "hono/jsx"

/** What stands where there is nothing yet: a title, and what to do next. */
export function EmptyState(props: { title: string; children?: Child }) {
  return (
    <div class="empty-state">
      <p class="empty-state-title">{props.title}</p>
      {props.children}
    </div>
  )
}
