import type { Blame, Failure } from "../src/contract/failure.ts"
import { EXPLAIN_RULES } from "./explain-rules.ts"
import type { ExplainRule } from "./explain-rule.ts"
import { cleanLines, tellingLines } from "./stderr-lines.ts"

export type Explained = { blame: Blame; failure: Failure }

/** Place of a command in its sequence, counted from 1. */
export type Place = { number: number; total: number }

const QUOTED_LENGTH_MAX = 160

/**
 * Says why ffmpeg failed: the first rule that fits what it said, else its last telling line. Works
 * on stderr as it came; nothing of the machine is in the answer.
 */
export function explain(said: {
  stderr: string
  exitCode: number | null
  workspace: string
  place: Place
}): Explained {
  const lines = cleanLines(said.stderr, said.workspace)
  const found = findRule(lines)
  const shown = tellingLines(lines)
  return {
    blame: found?.blame ?? "caller",
    failure: {
      code: found?.code ?? "command_failed",
      message: sayWhere(said.place, found?.sentence ?? lastWord(shown, said.exitCode)),
      lines: shown,
    },
  }
}

/** Puts the command's number before a sentence where there are several. */
export function sayWhere(place: Place, sentence: string): string {
  return place.total > 1 ? `Command ${place.number} of ${place.total}: ${sentence}` : sentence
}

function findRule(lines: readonly string[]) {
  for (const rule of EXPLAIN_RULES) {
    const sentence = applyRule(rule, lines)
    if (sentence !== null) return { code: rule.code, blame: rule.blame, sentence }
  }
  return null
}

/** The sentence of a rule about what a tool said, line by line; null where it does not fit. */
export function applyRule(rule: ExplainRule, lines: readonly string[]): string | null {
  let laterAt = 0
  for (const [index, line] of lines.entries()) {
    const match = rule.pattern.exec(line)
    if (!match) continue
    // What is looked for later is not behind what an earlier line found.
    if (rule.later) laterAt = findFrom(Math.max(laterAt, index + 1), lines, rule.later)
    const other = secondMatch(rule, lines[index + 1], lines[laterAt])
    const groups = other && [...match.slice(1), ...other.slice(1)]
    const picked = groups && rule.pick ? rule.pick(groups) : groups
    if (!picked) continue
    const [first = "", second = "", third = ""] = picked.map(shorten)
    return rule.sentence(first, second, third)
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

function lastWord(lines: readonly string[], exitCode: number | null): string {
  const line = lines.findLast((each) => each !== "Conversion failed!")
  if (line === undefined) return `ffmpeg failed without a word (exit code ${exitCode ?? "none"}).`
  return `ffmpeg failed: ${shorten(line).replace(/[.!]$/, "")}.`
}

function shorten(text: string | undefined): string {
  if (text === undefined) return ""
  return text.length > QUOTED_LENGTH_MAX ? `${text.slice(0, QUOTED_LENGTH_MAX)}...` : text
}
