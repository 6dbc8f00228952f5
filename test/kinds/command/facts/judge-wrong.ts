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
  ["in_mute", "in_mute.mp4"],
  ["in_full", "in_full.mkv"],
  ["in_still", "in_still.mp4"],
])

const PICTURE = {
  codec_type: "video",
  codec_name: "h264",
  width: 160,
  height: 120,
  pix_fmt: "yuv420p",
  r_frame_rate: "25/1",
}
const SOUND = { codec_type: "audio", codec_name: "aac", channels: 1, sample_rate: "44100" }
const TEXT = { codec_type: "subtitle", codec_name: "subrip" }

const PROBES = new Map([
  ["in_1.mp4", probeOf("mov,mp4,m4a,3gp,3g2,mj2", PICTURE, SOUND)],
  ["in_2.srt", probeOf("srt", TEXT)],
  ["in_pic.png", probeOf("png_pipe", { ...PICTURE, codec_name: "png", pix_fmt: "rgb24" })],
  ["in_snd.wav", probeOf("wav", { ...SOUND, codec_name: "pcm_s16le" })],
  ["in_mute.mp4", probeOf("mov,mp4,m4a,3gp,3g2,mj2", PICTURE)],
  ["in_full.mkv", probeOf("matroska,webm", PICTURE, SOUND, TEXT)],
  ["in_still.mp4", probeOf("mov,mp4,m4a,3gp,3g2,mj2", { ...PICTURE, duration: "0.040000" }, SOUND)],
])

/** What ffprobe says of a file of one second, without what nothing looks for. */
function probeOf(format_name: string, ...streams: Record<string, unknown>[]) {
  const isPicture = format_name === "png_pipe"
  return { format_name, format: {}, streams, ...(!isPicture && { duration: 1 }) }
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
