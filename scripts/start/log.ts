import { formatLogLine } from "../../src/contract/log-line.ts"
import type { LogEventFields, LogLevel } from "../../src/contract/log-line.ts"

/** Logs an event of the start script, in the format of the service's log. */
export function log(level: LogLevel, event: string, facts: LogEventFields = {}): void {
  console.error(formatLogLine({ part: "start", level, event }, facts))
}
