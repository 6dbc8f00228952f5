import { isLogLevelEnabled, formatLogLine, parseLogLevel } from "../src/contract/log-line.ts"
import type { LogLevel } from "../src/contract/log-line.ts"

type LogFields = Record<string, string | number | boolean | null | undefined>

const levelMin = parseLogLevel(process.env["LOG_LEVEL"])

/**
 * Writes a log entry to stdout as a line of JSON. Secrets in the fields of the entry are hidden.
 */
export function log(level: LogLevel, event: string, fields: LogFields = {}): void {
  if (!isLogLevelEnabled(level, levelMin)) return
  process.stdout.write(`${formatLogLine({ part: "runner", level, event }, fields)}\n`)
}
