import type { Child } from "hono/jsx"

/** Properties of a button. The label of the button is `text` or the children. */
type Button = { tone?: "primary" | "danger" | "quiet"; text?: string; children?: Child }

/**
 * Button that submits a form. `asks` is a question that the page shows before the form is
 * submitted.
 */
export function SubmitButton({
  tone,
  asks,
  text,
  children,
}: Button & { asks?: string | undefined }) {
  return (
    <button type="submit" class={classOf(tone)} data-confirm={asks}>
      {text ?? children}
    </button>
  )
}

/** Form that consists of one submit button. */
export function ActionForm({
  action,
  ...button
}: Parameters<typeof SubmitButton>[0] & { action: string }) {
  return (
    <form method="post" action={action}>
      <SubmitButton {...button} />
    </form>
  )
}

/** Link with the look of a button. */
export function LinkButton({ to, tone, text, children }: Button & { to: string }) {
  return (
    <a class={classOf(tone)} href={to}>
      {text ?? children}
    </a>
  )
}

function classOf(tone: Button["tone"]): string {
  return tone === undefined ? "button" : `button ${tone}`
}
