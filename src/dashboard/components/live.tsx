import type { Child } from "hono/jsx"

/**
 * A part of a page that live.client.js brings up to date in its place, by its id, whenever it gets
 * the page anew. `tells` has screen readers say what is new in it.
 */
export function Live(props: {
  id: string
  as?: "div" | "span" | "p"
  tells?: boolean
  class?: string
  children?: Child
}) {
  const { id, as: Tag = "div", tells = false, children } = props
  return (
    <Tag id={id} class={props.class} data-live="" aria-live={tells ? "polite" : undefined}>
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
