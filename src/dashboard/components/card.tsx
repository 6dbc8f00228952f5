import type { Child } from "hono/jsx"

/** Section of a page with a title, buttons and content. */
export function Card(props: { title?: string; id?: string; actions?: Child; children?: Child }) {
  const { title, id, actions, children } = props
  return (
    <section class="card" id={id}>
      {(title !== undefined || actions) && (
        <header class="card-header">
          {title !== undefined && <h2>{title}</h2>}
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  )
}
