import type { Child } from "hono/jsx"

/** Color of a badge or notice: success, error, work in progress, or neutral. */
export type Tone = "good" | "bad" | "busy" | "idle"

/** Colored label for a state. The color repeats the meaning of the text. */
export function Badge(props: { tone: Tone; children?: Child }) {
  return <span class={`badge ${props.tone}`}>{props.children}</span>
}

/** Colors of the statuses of jobs, files, deliveries, keys and accounts. */
const TONES: Readonly<Record<string, Tone>> = {
  active: "good",
  completed: "good",
  delivered: "good",
  healthy: "good",
  ok: "good",
  success: "good",
  succeeded: "good",
  busy: "busy",
  delivering: "busy",
  processing: "busy",
  retrying: "busy",
  running: "busy",
  replaced: "busy",
  dead: "bad",
  degraded: "bad",
  failed: "bad",
  revoked: "bad",
  suspended: "bad",
}

/** Badge for a status of the API. An unknown status has the neutral color. */
export function StatusBadge(props: { status: string }) {
  const words = props.status.replaceAll("_", " ")
  return <Badge tone={TONES[props.status] ?? "idle"}>{words}</Badge>
}
