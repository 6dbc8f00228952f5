import type { Blame, Failure } from "../src/contract/failure.ts"
import { EXPLAIN_RULES } from "./explain-rules.ts"
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
  const found = findRule(lines.join("\n"))
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

function findRule(text: string) {
  for (const { pattern, code, sentence, blame } of EXPLAIN_RULES) {
    const match = pattern.exec(text)
    if (!match) continue
    const [first = "", second = "", third = ""] = match.slice(1).map(shorten)
    return { code, blame, sentence: sentence(first, second, third) }
  }
  return null
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
