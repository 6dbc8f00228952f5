import { LOG_BYTES_MAX } from "../../src/contract/report.ts"
import { cleanLine, hideReasons, isAboutOutsidePath } from "./explain.ts"
import type { CommandPosition } from "./explain.ts"

/** What the commands of a task said, as its caller may read it. */
export type ToolLog = {
  /** Says that a command begins; where there are several, its lines have a heading. */
  begin(position: CommandPosition): void
  /** Takes a line of a command's stderr. */
  read(line: string): void
  /** The last lines, of at most LOG_BYTES_MAX bytes together. */
  text(): string
}

/** What ffmpeg prints again and again: how far it is. */
const STATS = /^(?:frame=\s*\d+ fps=|size=\s*\S+ time=|Press \[q\])/
/** Folders before a name, but for those of addresses and of devices. */
const FOLDERS = /(?<![\w./])\/(?!dev\/|\/)(?:[^\s'"/]+\/)+/g

/**
 * Opens the log of a task that works in a workspace; `names` are the names of its files there by
 * their keys, in whose place the log has the keys as commands write them: `{{in_1}}`.
 */
export function openToolLog(workspace: string, names: ReadonlyMap<string, string>): ToolLog {
  let lines: string[] = []
  let bytes = 0
  let isOutside = false
  function add(line: string): void {
    lines.push(line)
    bytes += Buffer.byteLength(line) + 1
    // So that a line costs no copy of all others, there may be twice as much.
    if (bytes <= 2 * LOG_BYTES_MAX) return
    lines = lastOf(lines)
    bytes = lines.reduce((sum, each) => sum + Buffer.byteLength(each) + 1, 0)
  }
  return {
    begin({ number, total }) {
      if (total > 1) add(`Command ${number} of ${total}:`)
    },
    read(line) {
      if (STATS.test(line)) return
      isOutside ||= isAboutOutsidePath(line) && isAboutOutsidePath(cleanLine(line, workspace))
      add(line)
    },
    text() {
      const cleaned = lastOf(lines).map((line) => cleanLine(line, workspace))
      const replace = openReplacement(names)
      const shown = hideReasons(cleaned, isOutside).map((line) =>
        replace(line.replace(FOLDERS, "")),
      )
      const kept = lastOf(shown)
      return kept.length === 0 ? "" : `${kept.join("\n")}\n`
    },
  }
}

/** The last lines that have at most so many bytes, with their ends; of one that is longer, its end. */
function lastOf(lines: readonly string[]): string[] {
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

/** Puts keys in the place of names, where these stand as words. */
function openReplacement(names: ReadonlyMap<string, string>): (line: string) => string {
  // A name without a dot may be any word.
  const keys = new Map(
    [...names].flatMap(([key, name]) => (name.includes(".") ? [[name, key]] : [])),
  )
  if (keys.size === 0) return (line) => line
  const longestFirst = [...keys.keys()].toSorted((one, other) => other.length - one.length)
  const words = longestFirst.map((name) => RegExp.escape(name)).join("|")
  const pattern = new RegExp(`(?<![\\w.-])(?:${words})(?![\\w-]|\\.\\w)`, "g")
  return (line) => line.replace(pattern, (name) => `{{${keys.get(name)}}}`)
}
