import type { Child } from "hono/jsx"
import type { Tone } from "./badge.tsx"

/** A sentence that matters now; a bad one is told to screen readers at once. */
export function Notice(props: { tone: Tone; children?: Child }) {
  const { tone, children } = props
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  )
}
