import type { Child } from "hono/jsx"

/** One matter of a page: a title, what can be done about it, and its content. */
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
