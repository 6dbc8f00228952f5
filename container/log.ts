import { isLogged, logLine, readLogLevel } from "../src/contract/log-line.ts"
import type { LogLevel } from "../src/contract/log-line.ts"

type LogFields = Record<string, string | number | boolean | null | undefined>

const levelMin = readLogLevel(process.env["LOG_LEVEL"])

/** Writes an entry of the log to stdout: one line of JSON, without secrets. */
export function log(level: LogLevel, event: string, fields: LogFields = {}): void {
  if (!isLogged(level, levelMin)) return
  process.stdout.write(`${logLine({ part: "runner", level, event }, fields)}\n`)
}
