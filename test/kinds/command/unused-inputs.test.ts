import { expect, test } from "vitest"
import { findUnusedInputWarnings } from "../../../src/kinds/command/unused-inputs.ts"

const INPUTS = ["in_1", "in_2", "in_10"].map((key) => ({ key, field: `input_files.${key}` }))

/** Commands whose unused inputs are certain, and these inputs. */
const CERTAIN: [line: string, unused: string[]][] = [
  ["-i {{in_1}} out_1", ["in_2", "in_10"]],
  ["-i in_1 -i in_2 -i in_10 out_1", []],
  ["-i in_10 out_1", ["in_1", "in_2"]],
  ["-i {{in_1}} -vf movie=in_2,subtitles={{in_10}} out_1", []],
  ["-i concat:in_1|in_2 out_1", ["in_10"]],
  ["-i in_1 -vf drawtext=text=win_2:fontfile=in_10 out_1", ["in_2"]],
]

/** Commands that may read inputs without naming them. */
const UNCERTAIN = [
  "-f concat -i in_1 out_1",
  "-i in_%d.png out_1",
  "-i in_%03d.png out_1",
  "-i in_1 -vf subtitles=in_2:fontsdir=. out_1",
  "-i in_1 -filter_complex_script in_2 out_1",
  "-i in_1 -/vf {{in_2}} out_1",
  "-i in_1 -f hls -hls_key_info_file in_2 out_1",
  "",
]

test.each(CERTAIN)("`%s` warns of %o", (line, unused) => {
  const warnings = findUnusedInputWarnings([line.split(" ")], INPUTS)
  expect(warnings.map(({ code, message }) => [code, message])).toEqual(
    unused.map((key) => [
      "unused_input",
      `input_files.${key}: no command names this input. Write {{${key}}} where it goes, or leave the input out.`,
    ]),
  )
})

test.each(UNCERTAIN)("`%s` warns of nothing", (line) => {
  expect(findUnusedInputWarnings([line === "" ? [] : line.split(" ")], INPUTS)).toEqual([])
})

test("an input of one of several commands is used", () => {
  const commands = ["-i in_1 mid.mp4", "-i in_2 -i mid.mp4 out_1"].map((line) => line.split(" "))
  expect(findUnusedInputWarnings(commands, INPUTS).length).toBe(1)
})
