import type { Child } from "hono/jsx"
import type { BadgeColor } from "./badge.tsx"

/** Notice with a border. Screen readers announce a notice of the tone `bad` at once. */
export function Notice(props: { tone: BadgeColor; children?: Child }) {
  const { tone, children } = props
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  )
}
