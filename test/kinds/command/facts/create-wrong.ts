import type { ProbeResult } from "../../../../src/contract/probe.ts"
import { replaceFileKeysByNames } from "../../../../src/ffmpeg/file-keys.ts"
import { findCapabilityRefusals } from "../../../../src/kinds/command/facts/check-command.ts"
import image from "../../../../src/kinds/command/facts/image.json" with { type: "json" }
import { createCapabilities } from "../../../../src/kinds/command/facts/capabilities.ts"
import { splitWords } from "../../../../src/kinds/command/lines.ts"
import { findPolicyRefusals } from "../../../../src/ffmpeg/policy/check.ts"
import { COMMAND_REMEDIES } from "../../../../src/ffmpeg/policy/remedies.ts"

/** Capabilities of the image's ffmpeg. */
export const known = createCapabilities(image)

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
const MOVIE = "mov,mp4,m4a,3gp,3g2,mj2"

/** Files of wrong commands by key: workspace names, and probes of media. */
const FILES: Record<string, readonly [name: string, probe: ProbeResult | null]> = {
  in_1: ["in_1.mp4", probeOf(MOVIE, PICTURE, SOUND)],
  in_2: ["in_2.srt", probeOf("srt", TEXT)],
  in_pic: ["in_pic.png", probeOf("png_pipe", { ...PICTURE, codec_name: "png", pix_fmt: "rgb24" })],
  in_snd: ["in_snd.wav", probeOf("wav", { ...SOUND, codec_name: "pcm_s16le" })],
  in_mute: ["in_mute.mp4", probeOf(MOVIE, PICTURE)],
  in_stereo: ["in_stereo.mp4", probeOf(MOVIE, PICTURE, { ...SOUND, channels: 2 })],
  in_full: ["in_full.mkv", probeOf("matroska,webm", PICTURE, SOUND, TEXT)],
  in_still: ["in_still.mp4", probeOf(MOVIE, { ...PICTURE, duration: "0.040000" }, SOUND)],
  in_gif: ["in_gif.gif", probeOf("gif", { ...PICTURE, codec_name: "gif", pix_fmt: "bgra" })],
  in_flv: ["in_flv.flv", probeOf("flv", PICTURE, SOUND)],
  in_list: ["in_list.txt", null],
  in_pics_1: ["in_pics_1.png", null],
  in_pics_2: ["in_pics_2.png", null],
  in_pics_3: ["in_pics_3.png", null],
}

/** Returns a probe of one second with only the fields that checks read. */
function probeOf(format_name: string, ...streams: Record<string, unknown>[]): ProbeResult {
  const isPicture = format_name === "png_pipe"
  return { format_name, format: {}, streams, ...(!isPicture && { duration: 1 }) }
}

const NAMES = new Map(Object.entries(FILES).map(([key, [name]]) => [key, name]))
const PROBES = new Map(
  Object.values(FILES).flatMap(([name, probe]) => (probe ? [[name, probe] as const] : [])),
)

function wordsOfWrong(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return replaceFileKeysByNames(split.words, NAMES)
}

/**
 * Returns the messages of a create for a line; its last word is its output. `hasProbes` gives its
 * inputs their probes.
 */
export function judgeWrong(line: string, hasProbes = true): string[] {
  const words = wordsOfWrong(line)
  const inputs = new Set([...NAMES.values(), "in_pics_%d.png"])
  const names = { inputs, outputs: new Set([words.at(-1) ?? ""]), remedies: COMMAND_REMEDIES }
  const probes = hasProbes ? PROBES : new Map<string, ProbeResult>()
  const refused = [
    ...findPolicyRefusals(words, names),
    ...findCapabilityRefusals(words, known, probes),
  ]
  return refused.map(({ message }) => message)
}

/**
 * Returns the work of a line as its runner gets it: the words of the command, and all files by key.
 */
export function workOf(line: string) {
  const words = wordsOfWrong(line)
  const name = words.at(-1) ?? ""
  return {
    commands: [words],
    inputs: Object.entries(FILES).map(([key, [file]]) => ({ key, name: file })),
    outputs: name === "-" ? [] : [{ key: "out_1", name }],
  }
}
