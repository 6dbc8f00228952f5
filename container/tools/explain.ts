import { readCommand } from "../../src/contract/command-line.ts"
import type { ReadCommand } from "../../src/contract/command-line.ts"
import { callerFailure } from "../failures.ts"
import type { FailureCode } from "../../src/contract/failure.ts"
import type { TaskFailure } from "../failures.ts"
import { EXPLAIN_RULES } from "./rules/order.ts"
import type { ExplainRule } from "./rules/rule.ts"

/** Position of a command in its sequence, counted from 1. */
export type CommandPosition = { number: number; total: number }

const QUOTED_LENGTH_MAX = 160
const LINES_MAX = 20
const LINE_LENGTH_MAX = 500

/** Lines in which ffmpeg describes itself, its inputs and outputs, or its progress. */
export const NOISE = [
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

/** Words of lines that report an error. */
export const ERROR_WORDS =
  /error|fail|invalid|unable|unknown|unrecognized|undefined|unsupported|no such|not |cannot|could|can't|must|missing|denied|match|too |only |exceed|without|expected|impossible|unsafe|possible|does |memory|terminated|incomplete|corrupt|broken|nothing |bad /i

/** Lines that name what could not be opened, or why. */
const OPENING = /(?:open|opening|opened) |open$/i
const OPENING_REASON =
  /(?:^|: )(?:Permission denied|Operation not permitted|No such (?:file or directory|device or address)|Not a directory|Is a directory|Too many levels of symbolic links|File name too long)\.?$/
/** A slash or a protocol prefix, which no plain file name of a workspace contains. */
const OUTSIDE_PATH = /\/|\b[a-z][a-z0-9+.-]{0,20}:\S/i
const NAMED_OPENING = /^Error opening (?:input|output) file /
const NAMELESS_OPENING = /^Error opening (?:input|output) files: /

/** Puts the command's number before a sentence where there are several commands. */
export function atCommand({ number, total }: CommandPosition, sentence: string): string {
  return total > 1 ? `Command ${number} of ${total}: ${sentence}` : sentence
}

/**
 * Explains why ffmpeg failed: by the first rule that matches its stderr, else by its last error
 * line. The explanation contains no paths of the machine. `argv` are the words of the command, by which
 * rules say what to write instead.
 */
export function explain(run: {
  argv: readonly string[]
  stderr: string
  exitCode: number | null
  workspace: string
  position: CommandPosition
}): TaskFailure {
  const lines = cleanLines(run.stderr, run.workspace)
  const found = findRule(lines, readCommand(run.argv))
  const shown = selectErrorLines(lines)
  const said = found?.sentence ?? describeLastLine(shown, run.exitCode)
  const sentence =
    found !== null && ABOUT_STREAMS.has(found.rule.code) ? said + describeStreams(run.stderr) : said
  const failed = callerFailure(
    found?.rule.code ?? "command_failed",
    atCommand(run.position, sentence),
    shown,
  )
  return { ...failed, blame: found?.rule.blame ?? failed.blame }
}

/** Codes of failures whose sentence lists the streams of the inputs. */
const ABOUT_STREAMS = new Set<FailureCode>(["stream_not_found", "no_output"])
const STREAMS_MAX = 12
const STREAM = /^ {2}Stream #(\d+:\d+)\S*: (Video|Audio|Subtitle|Data|Attachment): (\w+)/

/** The streams that ffmpeg found in the inputs, as one more sentence; nothing where it was told to be quiet. */
function describeStreams(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/)
  const end = lines.findIndex((line) => line.startsWith("Output #"))
  const found = lines.slice(0, end < 0 ? undefined : end).flatMap((line) => {
    const [, place, medium = "", codec] = STREAM.exec(line) ?? []
    return place === undefined ? [] : [`${place} (${medium.toLowerCase()}, ${codec})`]
  })
  return found.length === 0 ? "" : ` The inputs have ${found.slice(0, STREAMS_MAX).join(", ")}.`
}

function findRule(lines: readonly string[], command: ReadCommand) {
  for (const rule of EXPLAIN_RULES) {
    const sentence = applyRule(rule, lines, command)
    if (sentence !== null) return { rule, sentence }
  }
  return null
}

/** A tool that has no command of its caller's. */
const NO_COMMAND: ReadCommand = { files: [], trailing: [], lacking: null }

/** The sentence of a rule for the lines of a tool that did a command; null where it does not match. */
export function applyRule(
  rule: ExplainRule,
  lines: readonly string[],
  command: ReadCommand = NO_COMMAND,
): string | null {
  let laterAt = 0
  for (const [index, line] of lines.entries()) {
    const match = rule.pattern.exec(line)
    if (!match) continue
    // The search goes on where it ended for an earlier line, so that all of them cost one pass.
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

/** Lines that only say that something failed, which other lines say better. */
const FOLLOWING =
  /^Conversion failed!$|^Error opening (?:in|out)put file|Terminating thread with|Task finished with|Nothing was written into|Could not open encoder before EOF|Error initializing output stream|Error parsing global options/

function describeLastLine(lines: readonly string[], exitCode: number | null): string {
  const line = lines.findLast((each) => !FOLLOWING.test(each)) ?? lines.at(-1)
  if (line === undefined) return `ffmpeg failed without a word (exit code ${exitCode ?? "none"}).`
  return `ffmpeg failed: ${shorten(line).replace(/[.!]$/, "")}.`
}

function shorten(text: string | undefined): string {
  if (text === undefined) return ""
  return text.length > QUOTED_LENGTH_MAX ? `${text.slice(0, QUOTED_LENGTH_MAX)}...` : text
}

/**
 * Lines of a tool's stderr without noise, control characters, pointers and paths of the workspace.
 * The rules of explanations match these lines.
 */
export function cleanLines(stderr: string, workspace: string): string[] {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => cleanLine(line, workspace).slice(0, LINE_LENGTH_MAX))
    .filter((line) => line.trim() !== "" && !NOISE.some((noise) => noise.test(line)))
  return [...new Set(hideReasons(lines, lines.some(isAboutOutsidePath)))]
}

/** A line of a tool without control characters, pointers and the path of the workspace. */
export function cleanLine(line: string, workspace: string): string {
  return (
    line
      .replaceAll(`${workspace}/`, "")
      .replaceAll(workspace, ".")
      // eslint-disable-next-line no-control-regex -- control characters are what is taken out
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, "")
      .replace(/ @ 0x[0-9a-f]+/g, "")
      // The runner's own whitelist is longer than the rest of the line.
      .replace(/ not on whitelist '[^']*'!?/, " is not read here")
  )
}

/**
 * Hides why a path outside the workspace cannot be opened, in its own line and in that of the file
 * that refers to it, so that callers cannot find out whether it exists. `isOutside`: whether the tool
 * said something of such a path, in these lines or in others.
 */
export function hideReasons(lines: readonly string[], isOutside: boolean): string[] {
  return lines.map((line, index) => {
    const isNameless = NAMELESS_OPENING.test(line) && !NAMED_OPENING.test(lines[index - 1] ?? "")
    if (!isOutside && !isNameless) return line
    return line.replace(OPENING_REASON, (reason) =>
      reason.startsWith(": ") ? ": cannot be opened" : "cannot be opened",
    )
  })
}

/** Whether a line says of a path outside the workspace that it cannot be opened, or is. */
export function isAboutOutsidePath(line: string): boolean {
  const message = line.replace(/^(?:\[[^\]]*\] )+/, "")
  return (OPENING.test(message) || OPENING_REASON.test(message)) && OUTSIDE_PATH.test(message)
}

/** The lines to show to a caller: those that report an error, else the last ones. */
export function selectErrorLines(lines: readonly string[]): string[] {
  const errorLines = lines.filter((line) => ERROR_WORDS.test(line))
  return (errorLines.length > 0 ? errorLines : lines).slice(-LINES_MAX)
}
