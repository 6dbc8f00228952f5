import { describe, expect, test } from "vitest"
import { splitWords } from "../../../src/kinds/command/lines.ts"

function wordsOf(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return split.words
}

describe("splitting", () => {
  test.for<[string, string[]]>([
    ["-i  a\tb\nc ", ["-i", "a", "b", "c"]],
    [`-metadata title="two words"`, ["-metadata", "title=two words"]],
    [`'it''s' ""`, ["its", ""]],
    [String.raw`"a\"b" 'a\b' a\ b "a\b"`, ['a"b', String.raw`a\b`, "a b", String.raw`a\b`]],
    ["-i a \\\n -t 1", ["-i", "a", "-t", "1"]],
    ["-i a \\\r\n -t 1\r\n", ["-i", "a", "-t", "1"]],
    ["$HOME ~ *.mp4 `ls`", ["$HOME", "~", "*.mp4", "`ls`"]],
    ["{{ in_1 }}", ["{{in_1}}"]],
    ["", []],
  ])("%j", ([line, words]) => {
    expect(wordsOf(line)).toEqual(words)
  })

  test.for(["a 'b", 'a "b', "a \\", "a\0b"])("refuses %j with a reason", (line) => {
    expect(splitWords(line)).toEqual({ error: expect.any(String) })
  })
})
