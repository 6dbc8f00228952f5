import { isLogLevelEnabled, isRequestLogSampled, formatLogLine } from "../contract/log-line.ts"
import type { LogEventFields, LogLevel } from "../contract/log-line.ts"

let levelMin: LogLevel = "info"
let sampleRate = 1

/** Sets the lowest level of log entries that are written. */
export function setLogLevel(level: LogLevel): void {
  levelMin = level
}

/**
 * Sets the share of requests, from 0 to 1, whose log entries are written. Warnings and entries
 * about failures are always written.
 */
export function setLogSampleRate(rate: number): void {
  sampleRate = rate
}

/** Writes a log entry as one line of JSON. `facts` must not contain secrets. */
export function log(level: LogLevel, event: string, facts: LogEventFields = {}): void {
  if (!isLogLevelEnabled(level, levelMin)) return
  if (isRoutine(level, facts) && !isRequestLogSampled(facts["request_id"], sampleRate)) return
  console[level](formatLogLine({ part: "worker", level, event }, facts))
}

/**
 * Reports whether log sampling may drop an entry: an entry that is no warning and reports no
 * failure.
 */
function isRoutine(level: LogLevel, { status, error, error_code }: LogEventFields): boolean {
  if (level === "warn" || level === "error") return false
  return !(typeof status === "number" && status >= 500) && !error && !error_code
}

/** Logs an error that does not stop the service. */
export function logError(event: string, facts: LogEventFields): void {
  log("error", event, facts)
}

/**
 * Runs `work`. Logs an error of `work` without rethrowing the error, so that the caller continues.
 * Returns true if `work` succeeded.
 */
export async function runOrLogError(
  event: string,
  facts: LogEventFields,
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
