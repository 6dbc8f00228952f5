/** Copies a text; it is not shown where there is no script. */
export function CopyButton(props: { text: string; label?: string }) {
  const { text, label = "Copy" } = props
  return (
    <button type="button" class="button quiet copy" data-copy={text}>
      {label}
    </button>
  )
}
