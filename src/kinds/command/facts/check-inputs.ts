import { lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { ProbeResult } from "../../../contract/probe.ts"
import { quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"

/** Formats that say themselves what they are, by the names that ffprobe has for them. */
const FORMATS = /^(?:mov,mp4,m4a,3gp,3g2,mj2|matroska,webm|avi|flv|ogg|wav|mp3|mpegts|gif)$/
/** Of these, the ones by whose name a file of another one is not read. */
const STRICT = /^(?:mov|mp4|m4a|3gp|3g2|matroska|webm|avi|flv|ogg|wav|mpegts|gif)$/

/** Options of some formats alone, and what to write instead where the input has another. */
const OWN_OPTIONS: Record<string, string> = {
  ignore_loop: "it is for a .gif; leave it out, or write -stream_loop -1 and a -t",
  loop: "it is for a picture; write -stream_loop 1 to repeat a film or sound",
  framerate: "it is for pictures; write -r before the output for another rate",
  safe: "it is for lists, behind -f concat; leave it out",
  pix_fmt: "it is for raw pictures; put it before the output",
  pixel_format: "it is for raw pictures; write -pix_fmt before the output",
  s: "it is for raw pictures; put it before the output, or write -vf scale=640:-2",
  video_size: "it is for raw pictures; write -s before the output",
  ar: "it is for raw sound; put it before the output",
  sample_rate: "it is for raw sound; write -ar before the output",
}

/** Options that the format of an input has not, and formats that it is not. */
export function checkInputs({ files }: ReadCommand, probes: Probes): Refusal[] {
  return files.flatMap((file) => {
    const probe = file.kind === "input" ? probes.get(file.word) : undefined
    if (!probe || probe.streams.length === 0) return []
    const given = lastValue(file, "f")
    return given === null ? checkOptions(file, probe) : checkFormat(file, given, probe)
  })
}

function checkOptions(file: ReadFile, { format_name: format }: ProbeResult): Refusal[] {
  if (/_pipe$|^image2$/.test(format)) return checkLoop(file)
  if (!FORMATS.test(format)) return []
  return file.options.flatMap(({ name, word }) => {
    const remedy = Object.hasOwn(OWN_OPTIONS, name) ? OWN_OPTIONS[name] : undefined
    if (remedy === undefined || (format === "gif" && name === "ignore_loop")) return []
    const message = `${word}: the input ${quote(file.word)} (${format}) has no such option: ${remedy}`
    return [{ code: "invalid_option" as const, option: word, message }]
  })
}

function checkLoop(file: ReadFile): Refusal[] {
  const value = lastValue(file, "loop")
  if (value === null || !/^-?\d+$/.test(value) || /^(?:-1|0|1)$/.test(value)) return []
  const message = `-loop: ${quote(value)}: of a picture it is 1 or 0; write -loop 1, and -t before the output for its seconds`
  return [{ code: "invalid_option", option: "-loop", message }]
}

function checkFormat(
  file: ReadFile,
  given: string,
  { format_name: format }: ProbeResult,
): Refusal[] {
  const isOther = STRICT.test(given) && FORMATS.test(format) && !format.split(",").includes(given)
  // Packets of a transport stream may be within anything.
  if (!isOther) return []
  const message = `-f: ${quote(file.word)} is no ${given} but ${format}; leave -f ${given} out`
  return [{ code: "invalid_option", option: "-f", message }]
}
