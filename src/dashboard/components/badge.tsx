import type { Child } from "hono/jsx"

export type Tone = "good" | "bad" | "busy" | "idle"

/** A word or two about a state; its colour repeats what the text says. */
export function Badge(props: { tone: Tone; children?: Child }) {
  return <span class={`badge ${props.tone}`}>{props.children}</span>
}

/** Statuses of jobs, files, deliveries, keys and accounts by what they mean to who reads them. */
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

/** A status in its own word; one that is not known here is neither good nor bad. */
export function StatusBadge(props: { status: string }) {
  const words = props.status.replaceAll("_", " ")
  return <Badge tone={TONES[props.status] ?? "idle"}>{words}</Badge>
}
