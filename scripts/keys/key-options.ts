import { SCOPES } from "../../src/scopes.ts"
import type { Scope } from "../../src/scopes.ts"

const DAY_MS = 86_400_000

/** Scopes by commas; null where the text has others. */
export function parseScopes(text: string): Scope[] | null {
  const names = text.split(",").map((name) => name.trim())
  const scopes = names.flatMap((name) => SCOPES.find((scope) => scope === name) ?? [])
  return scopes.length === names.length ? scopes : null
}

/**
 * When a key expires, ISO 8601: so many days after `now`, at the beginning of a day in UTC, or at a
 * moment; null where the text is none of these, or not in the future.
 */
export function parseExpiry(text: string, now: number): string | null {
  const days = /^\d{1,5}$/.test(text) ? Number(text) : null
  const isDate = /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/.test(text)
  const moment = days === null ? Date.parse(isDate ? text : "") : now + days * DAY_MS
  return moment > now ? new Date(moment).toISOString() : null
}
