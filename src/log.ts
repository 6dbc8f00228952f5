import { isLogged, isSampled, logLine } from "./contract/log-line.ts"
import type { LogFacts, LogLevel } from "./contract/log-line.ts"

let levelMin: LogLevel = "info"
let sampleRate = 1

/** Leaves out entries below a level from now on. */
export function setLogLevel(level: LogLevel): void {
  levelMin = level
}

/** Writes what went well for this share of requests alone from now on, from 0 to 1. */
export function setLogSampleRate(rate: number): void {
  sampleRate = rate
}

/** Writes an entry: one JSON object a line, without secrets. */
export function log(level: LogLevel, event: string, facts: LogFacts = {}): void {
  if (!isLogged(level, levelMin)) return
  if (isRoutine(level, facts) && !isSampled(facts["request_id"], sampleRate)) return
  console[level](logLine({ part: "worker", level, event }, facts))
}

/** Whether an entry tells of nothing that failed: what did is never left out. */
function isRoutine(level: LogLevel, { status, error, error_code }: LogFacts): boolean {
  if (level === "warn" || level === "error") return false
  return !(typeof status === "number" && status >= 500) && !error && !error_code
}

/** Tells an operator of something that went wrong and is dealt with. */
export function logError(event: string, facts: LogFacts): void {
  log("error", event, facts)
}

/**
 * Does one of several pieces of work, of which none may hold up the others: where it throws, that
 * is logged. Answers whether it was done.
 */
export async function doOrLog(
  event: string,
  facts: LogFacts,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    logError(event, { ...facts, error: String(error) })
    return false
  }
}
