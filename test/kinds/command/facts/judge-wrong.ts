import { substitute } from "../../../../src/contract/tasks/command.ts"
import { checkByFacts } from "../../../../src/kinds/command/facts/check-command.ts"
import type { Known } from "../../../../src/kinds/command/facts/known.ts"
import { splitWords } from "../../../../src/kinds/command/lines.ts"
import { checkCommand } from "../../../../src/kinds/command/policy/check.ts"
import { COMMAND_TERMS } from "../../../../src/kinds/command/policy/terms.ts"

/** The files of wrong commands by key, as ffmpeg finds them. */
const NAMES = new Map([
  ["in_1", "in_1.mp4"],
  ["in_2", "in_2.srt"],
  ["in_pic", "in_pic.png"],
  ["in_snd", "in_snd.wav"],
])

const PROBES = new Map([
  ["in_1.mp4", probeOf(["video", "h264"], ["audio", "aac"])],
  ["in_2.srt", probeOf(["subtitle", "subrip"])],
  ["in_pic.png", probeOf(["video", "png"])],
  ["in_snd.wav", probeOf(["audio", "pcm_s16le"])],
])

function probeOf(...streams: [medium: string, codec: string][]) {
  return {
    format_name: "mov",
    format: {},
    streams: streams.map(([codec_type, codec_name]) => ({ codec_type, codec_name })),
  }
}

/** The words of a line, with names in the place of keys. */
export function wordsOfWrong(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return substitute(split.words, NAMES)
}

/** What a create says of a line, whose output is its last word. */
export function judge(line: string, ffmpeg: Known): string[] {
  const words = wordsOfWrong(line)
  const names = {
    inputs: new Set(NAMES.values()),
    outputs: new Set([words.at(-1) ?? ""]),
    terms: COMMAND_TERMS,
  }
  const refused = [...checkCommand(words, names), ...checkByFacts(words, ffmpeg, PROBES)]
  return refused.map(({ message }) => message)
}
