import { logLine } from "../../src/contract/log-line.ts"
import type { LogFacts, LogLevel } from "../../src/contract/log-line.ts"

/** Writes an entry of the start script's own to the log, in the form of those of the service. */
export function log(level: LogLevel, event: string, facts: LogFacts = {}): void {
  console.error(logLine({ part: "start", level, event }, facts))
}

/** Prints what workerd tells of the Worker: its entries as they are, anything else as one. */
export function printWorkerLine({ level, message }: { level: string; message: string }): void {
  const isEntry = message.startsWith('{"time":')
  const known = LEVELS[level] ?? "info"
  console.log(
    isEntry ? message : logLine({ part: "worker", level: known, event: "said" }, { message }),
  )
}

const LEVELS: Record<string, LogLevel> = { debug: "debug", warn: "warn", error: "error" }
