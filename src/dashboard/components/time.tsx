import { formatMoment, formatRelative } from "./format.ts"

/** A moment as how long ago or ahead it is, with the exact one as its title; a dash for none. */
export function Time(props: { at: string | number | null | undefined }) {
  const atMs = typeof props.at === "string" ? Date.parse(props.at) : props.at
  if (atMs === null || atMs === undefined || Number.isNaN(atMs)) {
    return (
      <>
        <span aria-hidden="true">–</span>
        <span class="visually-hidden">never</span>
      </>
    )
  }
  return (
    <time datetime={new Date(atMs).toISOString()} title={formatMoment(atMs)} data-relative>
      {formatRelative(atMs, Date.now())}
    </time>
  )
}
