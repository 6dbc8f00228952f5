import { redactFact } from "./redact.ts"

/** From the one that says most to the one that says least. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The parts of the service that write logs. */
export type LogPart = "worker" | "runner" | "start"

/** What an event is about; names in snake case, and the same in all parts of the service. */
export type LogFacts = Record<string, unknown>

const TEXT_CHARACTERS_MAX = 4000

/** An entry of a log: one line of JSON without secrets, the same in all parts of the service. */
export function logLine(
  entry: { part: LogPart; level: LogLevel; event: string },
  facts: LogFacts = {},
): string {
  const { part, level, event } = entry
  const line = { time: new Date().toISOString(), level, event, part, ...facts }
  return JSON.stringify(line, (name, value: unknown) => {
    const redacted = redactFact(name, value)
    return typeof redacted === "string" ? redacted.slice(0, TEXT_CHARACTERS_MAX) : redacted
  })
}

/** Whether entries of a level are written where `min` is asked for. */
export function isLogged(level: LogLevel, min: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(min)
}

/** The level that a setting names; another text is as none. */
export function readLogLevel(text: string | undefined): LogLevel {
  return LOG_LEVELS.find((level) => level === text) ?? "info"
}

/**
 * Whether entries of a request are in a sample of this share, from 0 to 1: all of them or none, in all
 * parts of the service. What is of no request is in every sample.
 */
export function isSampled(requestId: unknown, rate: number): boolean {
  if (rate >= 1 || typeof requestId !== "string") return true
  let hash = FNV_OFFSET
  for (const character of requestId) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME)
  }
  return (hash >>> 0) / 2 ** 32 < rate
}

const FNV_OFFSET = 2_166_136_261
const FNV_PRIME = 16_777_619
