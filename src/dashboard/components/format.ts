import { LIMIT_FIELDS } from "../../domain/plan-fields.ts"
import type { LimitName } from "../../domain/plan-fields.ts"

const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB", "PB"]
const counts = new Intl.NumberFormat("en")
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" })

/**
 * Formats a number of bytes in the largest unit with a value of at least 1 (1 KB is 1024 bytes):
 * `1.5 GB`.
 */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return "unlimited"
  const exponent = bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10)
  const power = Math.min(exponent, BYTE_UNITS.length - 1)
  const value = bytes / 1024 ** power
  const digits = power > 0 && value < 10 ? 1 : 0
  return `${trimZero(value.toFixed(digits))} ${BYTE_UNITS[power]}`
}

/** Formats a duration in seconds by its two largest units: `1 h 5 min`, `12.4 s`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "unlimited"
  if (seconds < 1 && seconds > 0) return `${Math.max(1, Math.round(seconds * 1000))} ms`
  if (seconds < 60) return `${trimZero((Math.floor(seconds * 10) / 10).toFixed(1))} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return join([Math.floor(whole / 60), "min"], [whole % 60, "s"])
  const minutes = Math.round(whole / 60)
  if (minutes < 1440) return join([Math.floor(minutes / 60), "h"], [minutes % 60, "min"])
  const hours = Math.round(minutes / 60)
  return join([Math.floor(hours / 24), "d"], [hours % 24, "h"])
}

/** Formats a number with thousands separators: `20,000`. */
export function formatCount(count: number): string {
  return Number.isFinite(count) ? counts.format(count) : "unlimited"
}

const STEPS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const

/**
 * Formats a time relative to another, both in milliseconds since 1970: `5 minutes ago`.
 * page.client.js formats times in the same way.
 */
export function formatRelativeTime(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000
  for (const [unit, unitSeconds] of STEPS) {
    if (Math.abs(seconds) >= unitSeconds) {
      return relative.format(Math.trunc(seconds / unitSeconds), unit)
    }
  }
  return seconds > 1 ? "in less than a minute" : "just now"
}

/** Formats a time in milliseconds since 1970: `2026-01-31 12:00:00 UTC`. */
export function formatUtcTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace("T", " ")} UTC`
}

function join(...parts: [number, string][]): string {
  const shownParts = parts.filter(([value], at) => at === 0 || value > 0)
  return shownParts.map(([value, unit]) => `${value} ${unit}`).join(" ")
}

function trimZero(text: string): string {
  return text.replace(/\.0$/, "")
}

/** Formats a value of a limit in the limit's unit: `5 GB`, `5 min`, `20,000`. */
export function formatLimitAmount(name: LimitName, amount: number): string {
  const { unit } = LIMIT_FIELDS[name]
  if (unit === "bytes") return formatBytes(amount)
  return unit === "seconds" ? formatDuration(amount) : formatCount(amount)
}

const TITLES: Record<LimitName, string> = {
  requests_per_minute: "Requests this minute",
  running_jobs: "Running jobs",
  waiting_jobs: "Waiting jobs",
  file_bytes: "Size of a file",
  input_bytes: "Size of a job's inputs",
  run_seconds: "Run time of a job",
  storage_bytes: "Storage",
  fetches_per_day: "Fetches today",
  link_seconds: "Life of a link",
}

/** Returns the title of a limit on the usage page. */
export function getUsageLimitTitle(name: LimitName): string {
  return TITLES[name]
}
