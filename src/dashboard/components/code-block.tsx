/** Code with a copy button, such as a shell command. Long lines scroll. */
export function CodeBlock(props: { label: string; text: string }) {
  return (
    <div class="code-block">
      <pre tabindex={0} role="region" aria-label={props.label}>
        <code>{props.text}</code>
      </pre>
      <CopyButton text={props.text} />
    </div>
  )
}

/** Button that copies a text. The button is hidden without JavaScript. */
export function CopyButton(props: { text: string; label?: string }) {
  const { text, label = "Copy" } = props
  return (
    <button type="button" class="button quiet copy" data-copy={text}>
      {label}
    </button>
  )
}
