import type { Child } from "hono/jsx"

/** Color of a badge or notice: success, error, work in progress, or neutral. */
export type BadgeColor = "good" | "bad" | "busy" | "idle"

/** Colored label of a status. The text has the full meaning without the color. */
export function Badge(props: { tone: BadgeColor; children?: Child }) {
  return <span class={`badge ${props.tone}`}>{props.children}</span>
}

/** Color of each status of jobs, files, deliveries, API keys and accounts. */
const TONES: Readonly<Record<string, BadgeColor>> = {
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
