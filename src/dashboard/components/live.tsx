import type { Child } from "hono/jsx"

/**
 * Part of a page that live.client.js replaces, found by its id, whenever the script loads the page
 * again. With `tells`, screen readers announce changes of the part.
 */
export function LiveRegion(props: {
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

/**
 * Marker that makes live.client.js load the page again every few seconds, as long as `isOpen` is
 * true.
 */
export function PollMarker(props: { isOpen: boolean }) {
  return (
    <LiveRegion id="polled" as="span">
      {props.isOpen && <span data-poll={POLL_SECONDS} />}
    </LiveRegion>
  )
}
