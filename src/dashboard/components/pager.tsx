/** The way to older rows; nothing where there are none. */
export function Pager(props: { next: string | null }) {
  if (props.next === null) return null
  return (
    <nav class="pager" aria-label="Pages">
      <a class="button" href={props.next} rel="next">
        Older
      </a>
    </nav>
  )
}
