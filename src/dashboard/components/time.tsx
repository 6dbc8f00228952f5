import { formatUtcTime, formatRelativeTime } from "./format.ts"

/** Time relative to now, with the exact time as a tooltip; a dash without a time. */
export function RelativeTime(props: { at: string | number | null | undefined }) {
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
    <time datetime={new Date(atMs).toISOString()} title={formatUtcTime(atMs)} data-relative>
      {formatRelativeTime(atMs, Date.now())}
    </time>
  )
}
