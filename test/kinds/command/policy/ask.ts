import { substitute } from "../../../../src/contract/tasks/command.ts"
import { splitWords } from "../../../../src/kinds/command/lines.ts"
import { checkCommand } from "../../../../src/kinds/command/policy/check.ts"
import { COMMAND_TERMS } from "../../../../src/kinds/command/policy/terms.ts"
import type { Refusal } from "../../../../src/kinds/command/policy/refusal.ts"

const INPUTS = new Map(
  Object.entries({
    in_1: "in_1.mp4",
    in_2: "in_2.srt",
    in_font: "in_font.ttf",
    in_text: "in_text.txt",
    in_lut: "in_lut.cube",
    in_list: "in_list.txt",
    in_pic: "in_pic.png",
    in_snd: "in_snd.wav",
    in_meta: "in_meta.txt",
  }),
)
const OUTPUTS = new Map(
  Object.entries({
    out_1: "out.mp4",
    out_2: "out2.mkv",
    out_3: "stats.log",
    out_hls: "list.m3u8",
    out_dash: "list.mpd",
    out_series: "frame_%03d.png",
  }),
)

/** The words of a line with names in the place of keys, as a job's runner gives them to ffmpeg. */
export function wordsOf(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return substitute(split.words, new Map([...INPUTS, ...OUTPUTS]))
}

/** What the policy says of words. */
export function askWords(words: readonly string[]): Refusal[] {
  const [inputs, outputs] = [new Set(INPUTS.values()), new Set(OUTPUTS.values())]
  return checkCommand(words, { inputs, outputs, terms: COMMAND_TERMS })
}

/** What the policy says of a line without the program's name. */
export function ask(line: string): Refusal[] {
  return askWords(wordsOf(line))
}
