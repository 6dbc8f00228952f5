import { describe, expect, test } from "vitest"
import { substitute } from "../../../src/contract/tasks/command.ts"
import { namedKeys } from "../../../src/kinds/command/keys.ts"
import { splitWords } from "../../../src/kinds/command/lines.ts"

const names = new Map(
  Object.entries({ in_1: "in_1.mp4", in_2: "in_2.srt", in_10: "in_10.wav", out_1: "out.mp4" }),
)

function wordsOf(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return split.words
}

function fill(line: string): string[] {
  return substitute(wordsOf(line), names)
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

describe("placeholders", () => {
  test.for<[string, string[]]>([
    ["-i {{in_1}} {{out_1}}", ["-i", "in_1.mp4", "out.mp4"]],
    ["-i {{ in_1 }} out_1", ["-i", "in_1.mp4", "out.mp4"]],
    [String.raw`-i '\{\{in_1\}\}'`, ["-i", "in_1.mp4"]],
    [String.raw`-i \{\{in_1\}\}`, ["-i", "in_1.mp4"]],
    ["concat:{{in_1}}|{{in_10}}", ["concat:in_1.mp4|in_10.wav"]],
    ["-i {{in_3}}", ["-i", "{{in_3}}"]],
  ])("%s", ([line, words]) => {
    expect(fill(line)).toEqual(words)
  })
})

describe("bare keys", () => {
  test.for<[string, string]>([
    ["-i in_1", "in_1.mp4"],
    ["-i in_10", "in_10.wav"],
    ["-vf subtitles=in_2", "subtitles=in_2.srt"],
    ["-vf subtitles='in_2'", "subtitles=in_2.srt"],
    [`-vf "subtitles='in_2'"`, "subtitles='in_2.srt'"],
    ["-vf subtitles=filename=in_2:force_style=x", "subtitles=filename=in_2.srt:force_style=x"],
    ["-filter_complex movie=in_1[wm];[0][wm]overlay", "movie=in_1.mp4[wm];[0][wm]overlay"],
    ["-filter:v movie=in_1,hflip", "movie=in_1.mp4,hflip"],
    ["-f lavfi -i movie=in_1", "movie=in_1.mp4"],
  ])("are replaced in %s", ([line, last]) => {
    expect(fill(line).at(-1)).toBe(last)
  })

  test.for([
    "-metadata title=in_1",
    "-vf [in_1]hflip",
    "-i xin_1",
    "-i in_1x",
    "-vf drawtext=text=xin_1",
    "-vf drawtext=text=in_11",
    "-map [in_1]",
  ])("are left alone in %s", (line) => {
    expect(fill(line)).toEqual(line.split(" "))
  })
})

test("a command's keys are known, or named and declared by nobody", () => {
  const words = wordsOf("-i {{in_1}} -i in_7 -vf subtitles=in_2 {{out_9}}")
  expect(namedKeys(words, new Set(["in_1", "in_2", "in_3"]))).toEqual({
    known: new Set(["in_1", "in_2"]),
    unknown: new Set(["in_7", "out_9"]),
  })
})
