/** Link to the next page of a list, which has older rows. The last page shows no link. */
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
