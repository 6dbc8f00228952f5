import { JOB_LIST_KIND_NAMES } from "../kinds/registry.ts"
import { BATCH_EVENT_TYPES } from "../db/batches.ts"
import { FINAL_STATES } from "../domain/states.ts"
import type { FinalState } from "../domain/states.ts"

/** Type of the webhook event that an account can request to test its receiver. */
export const TEST_EVENT_TYPE = "webhook.test"

/** Types of all webhook events about jobs and batches. */
export const EVENT_TYPES: readonly string[] = [
  ...JOB_LIST_KIND_NAMES.flatMap((kind) => FINAL_STATES.map((state) => makeEventType(kind, state))),
  ...BATCH_EVENT_TYPES,
]

/** Event patterns to which an endpoint can subscribe. `*` matches any kind, any state or both. */
export const EVENT_PATTERNS: readonly string[] = [
  "*",
  ...JOB_LIST_KIND_NAMES.map((kind) => `${kind}.*`),
  "batch.*",
  ...FINAL_STATES.map((state) => `*.${state}`),
  ...EVENT_TYPES,
]

/** Returns the type of the webhook event about a job's end, such as `command.failed`. */
export function makeEventType(kind: string, state: FinalState): string {
  return `${kind}.${state}`
}

/** Reports whether a pattern of events matches an event type. */
export function matchesEventType(pattern: string, type: string): boolean {
  if (pattern === "*") return true
  const parts = type.split(".")
  return pattern.split(".").every((part, at) => part === "*" || part === parts[at])
}
