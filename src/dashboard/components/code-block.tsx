import { CopyButton } from "./copy-button.tsx"

/** Lines to be copied, such as a command for a shell; long ones scroll. */
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
