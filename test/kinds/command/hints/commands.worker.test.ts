import { describe, expect, test } from "vitest"
import { LEGITIMATE } from "../../../corpus/legitimate.ts"
import { judgeLine, judgeRun } from "./judge-line.ts"
import { MISTAKES_IN_EXTENSIONS, MISTAKES_IN_GRAPHS } from "./graphs-and-names.ts"
import { MISTAKES_IN_OPTIONS } from "./options-and-files.ts"
import { MISTAKES_IN_PATHS, MISTAKES_IN_PROGRAMS } from "./programs-and-paths.ts"
import { MISTAKES_IN_WORDS } from "./words.ts"

const LINES = [
  ...MISTAKES_IN_WORDS,
  ...MISTAKES_IN_OPTIONS,
  ...MISTAKES_IN_GRAPHS,
  ...MISTAKES_IN_PATHS,
].map(([line, code, words]) => [`ffmpeg ${line}`, code, words] as const)

describe("the first message has the remedy, and no further message follows from the same mistake", () => {
  test.for([...LINES, ...MISTAKES_IN_PROGRAMS])("%s", ([line, code, words]) => {
    const [first, ...more] = judgeLine(line)
    expect(first).toMatchObject({ code, message: expect.stringContaining(words) })
    const codes = new Set(more.map((fault) => fault.code))
    for (const follows of ["no_output", "trailing_option", "unused_output"] as const) {
      expect(codes).not.toContain(follows)
    }
  })
})

test.for(MISTAKES_IN_EXTENSIONS)("an output called %s gets the suggestion %s", ([name, meant]) => {
  const [first] = judgeLine("ffmpeg -i {{in_1}} {{out_1}}", name)
  expect(first?.message).toContain(meant)
})

describe("legitimate commands get no hint", () => {
  test.for(LEGITIMATE.map((work) => [work.name, work] as const))("%s", ([, work]) => {
    const names = Object.fromEntries(
      Object.entries(work.outputs).map(([key, [name]]) => [key, name] as const),
    )
    const faults = judgeRun([work.run].flat(), work.inputs ?? {}, names)
    expect(faults).toEqual([])
  })
})
