import { redactLogField } from "./redact.ts"

/** Log levels, from the least to the most severe. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Part of the service that writes a log entry. */
export type LogSource = "worker" | "runner" | "start"

/**
 * Fields of a log event by name. All parts of the service use the same field names, in snake case.
 */
export type LogEventFields = Record<string, unknown>

const TEXT_CHARACTERS_MAX = 4000

/** Formats a log entry as one line of JSON, with secrets redacted. */
export function formatLogLine(
  entry: { part: LogSource; level: LogLevel; event: string },
  facts: LogEventFields = {},
): string {
  const { part, level, event } = entry
  const line = { time: new Date().toISOString(), level, event, part, ...facts }
  return JSON.stringify(line, (name, value: unknown) => {
    const redacted = redactLogField(name, value)
    return typeof redacted === "string" ? redacted.slice(0, TEXT_CHARACTERS_MAX) : redacted
  })
}

/** Reports whether log entries of a level are written if `min` is the lowest written level. */
export function isLogLevelEnabled(level: LogLevel, min: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(min)
}

/** Parses a log level from a setting. Returns `info` if the setting is absent or unknown. */
export function parseLogLevel(text: string | undefined): LogLevel {
  return LOG_LEVELS.find((level) => level === text) ?? "info"
}

/**
 * Reports whether the log entries of a request belong to a sample of all requests. `rate` is the
 * share of sampled requests, from 0 to 1. The result depends only on the request id, so all parts
 * of the service log the same requests. Log entries without a request are always included.
 */
export function isRequestLogSampled(requestId: unknown, rate: number): boolean {
  if (rate >= 1 || typeof requestId !== "string") return true
  let hash = FNV_OFFSET
  for (const character of requestId) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME)
  }
  return (hash >>> 0) / 2 ** 32 < rate
}

const FNV_OFFSET = 2_166_136_261
const FNV_PRIME = 16_777_619
