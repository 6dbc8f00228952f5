import { replaceFileKeysByNames } from "../../../src/ffmpeg/file-keys.ts"
import { splitWords } from "../../../src/kinds/command/lines.ts"
import { findPolicyRefusals } from "../../../src/ffmpeg/policy/check.ts"
import { COMMAND_REMEDIES } from "../../../src/ffmpeg/policy/remedies.ts"
import type { CommandRefusal } from "../../../src/ffmpeg/policy/refusal.ts"

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

/** Returns the words of a line with names instead of keys, as a runner gives them to ffmpeg. */
export function wordsOf(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return replaceFileKeysByNames(split.words, new Map([...INPUTS, ...OUTPUTS]))
}

/** Returns the policy's refusals of words. */
export function askWords(words: readonly string[]): CommandRefusal[] {
  const [inputs, outputs] = [new Set(INPUTS.values()), new Set(OUTPUTS.values())]
  return findPolicyRefusals(words, { inputs, outputs, remedies: COMMAND_REMEDIES })
}

/** Returns the policy's refusals of a line without the program's name. */
export function ask(line: string): CommandRefusal[] {
  return askWords(wordsOf(line))
}
