import { logLine } from "../../src/contract/log-line.ts"
import type { LogFacts, LogLevel } from "../../src/contract/log-line.ts"

/** Writes an entry of the start script's own to the log, in the form of those of the service. */
export function log(level: LogLevel, event: string, facts: LogFacts = {}): void {
  console.error(logLine({ part: "start", level, event }, facts))
}
