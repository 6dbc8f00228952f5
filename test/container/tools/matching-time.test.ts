import { describe, expect, test } from "vitest"
import {
  cleanToolLines,
  NOISE_LINE_PATTERNS,
  ERROR_WORD_PATTERN,
  selectErrorLines,
  applyExplainRule,
  explainFfmpegFailure,
} from "../../../container/tools/ffmpeg/explain-failure.ts"
import { EXPLAIN_RULES } from "../../../container/tools/ffmpeg/rules/explain-rules.ts"
import { measureCpuMs } from "../../support/processor-time.ts"

const TEXT_LENGTH = 64 * 1024
const LINE_LENGTH = 500
const FILLERS = ["", "a", "1", "_1", " ", "'", "]", "a ", "=a", ": ", "a.", "(a) "]
const MS_MAX = 1500

/** Returns the literal parts of a pattern in their order. */
function literalsOf({ source }: RegExp): string[] {
  const plain = source
    .replace(/\\[dwsS][+*?]*/g, "\n")
    .replace(/\\(\W)/g, "$1")
    .replace(/[.\])][+*?]+|\[[^\]]*\]|\(\?[:!=]|[()|^$]|\{[^}]*\}/g, "\n")
  return plain.split("\n").filter(Boolean)
}

/** Returns lines that nearly match a pattern in many ways. */
function nearMatches(pattern: RegExp): string[] {
  const words = literalsOf(pattern)
  return FILLERS.flatMap((filler) => [
    words.join(filler.repeat(30)),
    words.join(filler || " ") + filler.repeat(400),
    ...words.flatMap((word, at) => {
      const before = words.slice(0, at).join(filler || " ")
      const many = (word + filler).repeat(LINE_LENGTH)
      return [before + many, many.slice(0, 200) + words.slice(at + 1).join(filler) + filler]
    }),
  ]).map((line) => line.slice(0, LINE_LENGTH - 8))
}

/** Returns as many variations of a line as fit in the kept tail of stderr. */
function linesLike(line: string): string[] {
  const count = Math.floor(TEXT_LENGTH / (line.length + 8))
  return Array.from({ length: Math.min(count, 3000) }, (_, place) => `${line}!${place}`)
}

async function longestMs(texts: string[][], work: (lines: string[]) => unknown): Promise<number> {
  let longest = 0
  for (const lines of texts) longest = Math.max(longest, await measureCpuMs(() => work(lines)))
  return longest
}

describe("64 KiB of near matches", () => {
  const patterns = EXPLAIN_RULES.map((rule) => [rule.pattern.source, rule] as const)

  test.for(patterns)("of %s are matched quickly", async ([, rule]) => {
    const texts = nearMatches(rule.pattern).map(linesLike)
    expect(texts.length).toBeGreaterThan(20)
    const second = rule.next ?? rule.later
    const both = second ? nearMatches(second).map((line) => nearPairs(rule.pattern, line)) : []
    const took = await longestMs([...texts, ...both], (lines) => applyExplainRule(rule, lines))
    expect(took).toBeLessThan(MS_MAX)
  })

  const cleaningPatterns = [...NOISE_LINE_PATTERNS, ERROR_WORD_PATTERN]
  test.for(cleaningPatterns.map((pattern) => [pattern.source, pattern] as const))(
    "of the cleaning pattern %s are matched quickly",
    async ([, pattern]) => {
      const texts = nearMatches(pattern).map(linesLike)
      const took = await longestMs(texts, (lines) =>
        selectErrorLines(cleanToolLines(lines.join("\n"), "/w/1")),
      )
      expect(took).toBeLessThan(MS_MAX)
    },
  )

  test("with many first lines and no second line are matched quickly", async () => {
    const firsts = Array.from({ length: 1200 }, (_, n) => `No option name near 'x${n}'`)
    const rest = Array.from({ length: 60 }, (_, n) => "a".repeat(490) + n)
    const stderr = [...firsts, "Error parsing filterchain '", ...rest].join("\n")
    const position = { number: 1, total: 1 }
    const about = { argv: [], stderr, exitCode: 1, workspace: "/w/1", position }
    expect(await measureCpuMs(() => explainFfmpegFailure(about))).toBeLessThan(MS_MAX)
  })
})

/** Returns lines that match the first pattern, each before one that nearly matches the second. */
function nearPairs(first: RegExp, second: string): string[] {
  const begin = literalsOf(first).join("a")
  return linesLike(begin + second).flatMap((_, place) => [`${begin}${place}`, `${second}${place}`])
}
