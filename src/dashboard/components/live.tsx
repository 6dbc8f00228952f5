import type { Child } from "hono/jsx"

/**
 * A part of a page that live.client.js brings up to date in its place, by its id, whenever it gets
 * the page anew. `of` is whose matter it is: the page's, or that of a form, whose answers alone
 * change it; `fields` are what is typed into, which only a button changes that is there for that.
 * `tells` has screen readers say what is new in it.
 */
export function Live(props: {
  id: string
  as?: "div" | "span" | "p"
  of?: "page" | "form" | "fields"
  tells?: boolean
  class?: string
  children?: Child
}) {
  const { id, as: Tag = "div", of = "page", tells = false, children } = props
  return (
    <Tag id={id} class={props.class} data-live={of} aria-live={tells ? "polite" : undefined}>
      {children}
    </Tag>
  )
}

const POLL_SECONDS = 4

/** Has the page brought up to date every few seconds, as long as it stands there. */
export function Polled(props: { isOpen: boolean }) {
  return (
    <Live id="polled" as="span">
      {props.isOpen && <span data-poll={POLL_SECONDS} />}
    </Live>
  )
}
