import { LOG_BYTES_MAX } from "../../../src/contract/report.ts"
import { cleanToolLine, hideOpenFailureReasons, isLineAboutOutsidePath } from "./explain-failure.ts"
import type { CommandPosition } from "./explain-failure.ts"

/**
 * Log of the output of a task's ffmpeg commands, without paths and other details that callers must
 * not see.
 */
export type CallerToolLog = {
  /** Starts the log of a command. If there are several commands, adds a heading. */
  begin(position: CommandPosition): void
  /** Adds a line of the command's stderr. */
  read(line: string): void
  /** Returns the last lines of the log, up to LOG_BYTES_MAX bytes. */
  text(): string
}

/** Matches the progress lines that ffmpeg prints again and again. */
const STATS = /^(?:frame=\s*\d+ fps=|size=\s*\S+ time=|Press \[q\])/
/** Matches the folder part of an absolute path, except in URLs and paths of devices. */
const FOLDERS = /(?<![\w./])\/(?!dev\/|\/)(?:[^\s'"/]+\/)+/g

/**
 * Creates the log of a task's ffmpeg commands. `names` contains the file names of inputs and
 * outputs by file key. The log shows a file name as the key that callers write in commands, such as
 * `{{in_1}}`.
 */
export function createCallerToolLog(
  workspace: string,
  names: ReadonlyMap<string, string>,
): CallerToolLog {
  let lines: string[] = []
  let bytes = 0
  let isOutside = false
  function add(line: string): void {
    lines.push(line)
    bytes += Buffer.byteLength(line) + 1
    // Drops old lines only when the log exceeds twice the limit, so that the list is not copied for
    // every new line.
    if (bytes <= 2 * LOG_BYTES_MAX) return
    lines = lastLinesOf(lines)
    bytes = lines.reduce((sum, each) => sum + Buffer.byteLength(each) + 1, 0)
  }
  return {
    begin({ number, total }) {
      if (total > 1) add(`Command ${number} of ${total}:`)
    },
    read(line) {
      if (STATS.test(line)) return
      isOutside ||=
        isLineAboutOutsidePath(line) && isLineAboutOutsidePath(cleanToolLine(line, workspace))
      add(line)
    },
    text() {
      const cleaned = lastLinesOf(lines).map((line) => cleanToolLine(line, workspace))
      const replace = openReplacement(names)
      const visibleLines = hideOpenFailureReasons(cleaned, isOutside).map((line) =>
        replace(line.replace(FOLDERS, "")),
      )
      const lastLines = lastLinesOf(visibleLines)
      return lastLines.length === 0 ? "" : `${lastLines.join("\n")}\n`
    },
  }
}

/**
 * Returns the last lines that fit into LOG_BYTES_MAX bytes, including line endings. If the last
 * line alone is longer, returns the end of that line.
 */
function lastLinesOf(lines: readonly string[]): string[] {
  let bytes = 0
  let from = lines.length
  while (from > 0 && bytes <= LOG_BYTES_MAX) {
    from -= 1
    bytes += Buffer.byteLength(lines[from] ?? "") + 1
  }
  if (bytes <= LOG_BYTES_MAX) return lines.slice(from)
  const whole = lines.slice(from + 1)
  if (whole.length > 0) return whole
  const end = Buffer.from(lines[from] ?? "").subarray(1 - LOG_BYTES_MAX)
  return [end.toString("utf8").replace(/^\uFFFD+/, "")]
}

/**
 * Returns a function that replaces each file name in a line by its key, if the file name is a
 * separate word.
 */
function openReplacement(names: ReadonlyMap<string, string>): (line: string) => string {
  // Skips file names without a dot, because such a name may match an ordinary word in the log.
  const keys = new Map(
    [...names].flatMap(([key, name]) => (name.includes(".") ? [[name, key]] : [])),
  )
  if (keys.size === 0) return (line) => line
  const longestFirst = [...keys.keys()].toSorted((one, other) => other.length - one.length)
  const words = longestFirst.map((name) => RegExp.escape(name)).join("|")
  const pattern = new RegExp(`(?<![\\w.-])(?:${words})(?![\\w-]|\\.\\w)`, "g")
  return (line) => line.replace(pattern, (name) => `{{${keys.get(name)}}}`)
}
