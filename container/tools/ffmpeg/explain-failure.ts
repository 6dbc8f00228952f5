import { parseFfmpegCommand } from "../../../src/ffmpeg/command-line.ts"
import type { ParsedCommand } from "../../../src/ffmpeg/command-line.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { FailureCode } from "../../../src/contract/failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { EXPLAIN_RULES } from "./rules/explain-rules.ts"
import type { ExplainRule } from "./rules/explain-rule.ts"

/** Position of a command among the commands of its job, counted from 1. */
export type CommandPosition = { number: number; total: number }

const QUOTED_LENGTH_MAX = 160
const LINES_MAX = 20
const LINE_LENGTH_MAX = 500

/**
 * Patterns of output lines that do not explain a failure. In these lines, ffmpeg describes itself,
 * its inputs and outputs, or its progress.
 */
export const NOISE_LINE_PATTERNS = [
  /^\s/,
  /^(?:ffmpeg|ffprobe) (?:version|stats) /,
  /^(?:Input|Output) #\d+, /,
  /^Stream mapping:/,
  /^Press \[q\]/,
  /^(?:frame|size)=/,
  /^(?:\[out#\S+\] )?video:\s*\S+\s+audio:/,
  /^\[\S+\] (?:Qavg: |\d+ frames left in the queue)/,
  /^\[libx26[45]\] (?:using |profile |264 - |frame |mb |8x8 |coded |i\d+ |ref |kb\/s|Weighted|consecutive)/,
  /^x265 \[info\]/,
  /Application has requested \d+ threads/,
  /No bit rate set\. Defaulting to/,
]

/** Matches words that occur in lines about an error. */
export const ERROR_WORD_PATTERN =
  /error|fail|invalid|unable|unknown|unrecognized|undefined|unsupported|no such|not |cannot|could|can't|must|missing|denied|match|too |only |exceed|without|expected|impossible|unsafe|possible|does |memory|terminated|incomplete|corrupt|broken|nothing |bad /i

/**
 * Patterns of lines about a file that could not be opened. `OPENING` matches the word "open", and
 * `OPENING_REASON` matches the reason, such as "Permission denied".
 */
const OPENING = /(?:open|opening|opened) |open$/i
const OPENING_REASON =
  /(?:^|: )(?:Permission denied|Operation not permitted|No such (?:file or directory|device or address)|Not a directory|Is a directory|Too many levels of symbolic links|File name too long)\.?$/
/**
 * Matches a slash or a protocol prefix. Lines with either are about files outside the workspace,
 * since names of files in a workspace contain neither.
 */
const OUTSIDE_PATH = /\/|\b[a-z][a-z0-9+.-]{0,20}:\S/i
const NAMED_OPENING = /^Error opening (?:input|output) file /
const NAMELESS_OPENING = /^Error opening (?:input|output) files: /

/**
 * Prefixes a sentence about a command with the command's number if the job has several commands.
 */
export function prefixCommandNumber({ number, total }: CommandPosition, sentence: string): string {
  return total > 1 ? `Command ${number} of ${total}: ${sentence}` : sentence
}

/**
 * Explains a failure of ffmpeg by the first rule that matches its stderr, or else by the last error
 * line of ffmpeg. The explanation contains no paths of this machine. Some rules refer to the
 * arguments of the command (`argv`) in their advice.
 */
export function explainFfmpegFailure(run: {
  argv: readonly string[]
  stderr: string
  exitCode: number | null
  workspace: string
  position: CommandPosition
}): TaskFailure {
  const lines = cleanToolLines(run.stderr, run.workspace)
  const found = findRule(lines, parseFfmpegCommand(run.argv))
  const shown = selectErrorLines(lines)
  const explanation = found?.sentence ?? describeLastLine(shown, run.exitCode)
  const sentence =
    found !== null && ABOUT_STREAMS.has(found.rule.code)
      ? explanation + describeStreams(run.stderr)
      : explanation
  const failed = createCallerFailure(
    found?.rule.code ?? "command_failed",
    prefixCommandNumber(run.position, sentence),
    shown,
  )
  return { ...failed, blame: found?.rule.blame ?? failed.blame }
}

/** Failure codes whose sentence is followed by a list of the input streams. */
const ABOUT_STREAMS = new Set<FailureCode>(["stream_not_found", "no_output"])
const STREAMS_MAX = 12
const STREAM = /^ {2}Stream #(\d+:\d+)\S*: (Video|Audio|Subtitle|Data|Attachment): (\w+)/

/**
 * Returns a sentence that lists the streams of the inputs. Returns an empty text if ffmpeg has not
 * printed the streams because of a low `-loglevel`.
 */
function describeStreams(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/)
  const end = lines.findIndex((line) => line.startsWith("Output #"))
  const found = lines.slice(0, end < 0 ? undefined : end).flatMap((line) => {
    const [, place, medium = "", codec] = STREAM.exec(line) ?? []
    return place === undefined ? [] : [`${place} (${medium.toLowerCase()}, ${codec})`]
  })
  return found.length === 0 ? "" : ` The inputs have ${found.slice(0, STREAMS_MAX).join(", ")}.`
}

function findRule(lines: readonly string[], command: ParsedCommand) {
  for (const rule of EXPLAIN_RULES) {
    const sentence = applyExplainRule(rule, lines, command)
    if (sentence !== null) return { rule, sentence }
  }
  return null
}

/**
 * Parsed command without files and options, for calls that only need to know whether a rule
 * matches.
 */
const NO_COMMAND: ParsedCommand = { files: [], trailing: [], incompleteOption: null }

/**
 * Applies a rule that explains failures to the output lines of a tool. Returns the sentence of the
 * rule, or null if no line matches the rule.
 */
export function applyExplainRule(
  rule: ExplainRule,
  lines: readonly string[],
  command: ParsedCommand = NO_COMMAND,
): string | null {
  let laterAt = 0
  for (const [index, line] of lines.entries()) {
    const match = rule.pattern.exec(line)
    if (!match) continue
    // Continues the search at the line where the previous search ended, so that all searches
    // together read each line only once.
    if (rule.later) laterAt = findFrom(Math.max(laterAt, index + 1), lines, rule.later)
    const other = secondMatch(rule, lines[index + 1], lines[laterAt])
    const groups = other && [...match.slice(1), ...other.slice(1)]
    const picked = groups && rule.pick ? rule.pick(groups) : groups
    if (!picked) continue
    const [first = "", second = "", third = ""] = picked.map(shorten)
    return rule.sentence(first, second, third, command)
  }
  return null
}

function secondMatch({ next, later }: ExplainRule, nextLine = "", laterLine = "") {
  if (next) return next.exec(nextLine)
  return later ? later.exec(laterLine) : []
}

function findFrom(start: number, lines: readonly string[], pattern: RegExp): number {
  let at = start
  while (at < lines.length && !pattern.test(lines[at] ?? "")) at += 1
  return at
}

/** Matches lines that report a failure without a reason. */
const FOLLOWING =
  /^Conversion failed!$|^Error opening (?:in|out)put file|Terminating thread with|Task finished with|Nothing was written into|Could not open encoder before EOF|Error initializing output stream|Error parsing global options/

function describeLastLine(lines: readonly string[], exitCode: number | null): string {
  const line = lines.findLast((each) => !FOLLOWING.test(each)) ?? lines.at(-1)
  if (line === undefined)
    return `ffmpeg failed without a message (exit code ${exitCode ?? "none"}).`
  return `ffmpeg failed: ${shorten(line).replace(/[.!]$/, "")}.`
}

function shorten(text: string | undefined): string {
  if (text === undefined) return ""
  return text.length > QUOTED_LENGTH_MAX ? `${text.slice(0, QUOTED_LENGTH_MAX)}...` : text
}

/**
 * Splits the stderr of a tool into lines. Removes lines without information, duplicates, control
 * characters, memory addresses and the path of the workspace. The rules that explain failures are
 * applied to the remaining lines.
 */
export function cleanToolLines(stderr: string, workspace: string): string[] {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => cleanToolLine(line, workspace).slice(0, LINE_LENGTH_MAX))
    .filter((line) => line.trim() !== "" && !NOISE_LINE_PATTERNS.some((noise) => noise.test(line)))
  return [...new Set(hideOpenFailureReasons(lines, lines.some(isLineAboutOutsidePath)))]
}

/**
 * Removes control characters, memory addresses and the path of the workspace from an output line of
 * a tool.
 */
export function cleanToolLine(line: string, workspace: string): string {
  return (
    line
      .replaceAll(`${workspace}/`, "")
      .replaceAll(workspace, ".")
      // eslint-disable-next-line no-control-regex -- the pattern removes control characters
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, "")
      .replace(/ @ 0x[0-9a-f]+/g, "")
      // Shortens a message in which ffmpeg lists all formats or decoders of the whitelist.
      .replace(/ not on whitelist '[^']*'!?/, " is not supported")
  )
}

/**
 * Hides the reasons why files could not be opened, so that callers cannot find out which files
 * exist on this machine. If the tool has tried to open a path outside the workspace (`isOutside`),
 * hides the reasons in all lines. Otherwise hides a reason only in lines that do not name the file.
 */
export function hideOpenFailureReasons(lines: readonly string[], isOutside: boolean): string[] {
  return lines.map((line, index) => {
    const isNameless = NAMELESS_OPENING.test(line) && !NAMED_OPENING.test(lines[index - 1] ?? "")
    if (!isOutside && !isNameless) return line
    return line.replace(OPENING_REASON, (reason) =>
      reason.startsWith(": ") ? ": cannot be opened" : "cannot be opened",
    )
  })
}

/** Reports whether an output line of a tool is about opening a path outside the workspace. */
export function isLineAboutOutsidePath(line: string): boolean {
  const message = line.replace(/^(?:\[[^\]]*\] )+/, "")
  return (OPENING.test(message) || OPENING_REASON.test(message)) && OUTSIDE_PATH.test(message)
}

/**
 * Selects the output lines of a tool that callers get: the last lines about errors, or the last
 * lines if no line is about an error.
 */
export function selectErrorLines(lines: readonly string[]): string[] {
  const errorLines = lines.filter((line) => ERROR_WORD_PATTERN.test(line))
  return (errorLines.length > 0 ? errorLines : lines).slice(-LINES_MAX)
}
