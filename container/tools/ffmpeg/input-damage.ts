import type { Warning } from "../../../src/contract/warning.ts"

const MESSAGE_LENGTH_MAX = 1000

type DamageKind = "packet" | "decoding" | "photo" | "file"

/** Line of stderr in which ffmpeg or ffprobe reports a damaged input. */
type DamageLine = { kind: DamageKind; line: string }

/** Possible damage of the inputs of an ffmpeg run, according to the messages of ffmpeg. */
export type InputDamage = {
  /** First stderr lines about each kind of damage. */
  damage: readonly DamageLine[]
  /** Whether the timestamps of an input start again, as in streams that were concatenated. */
  isJoined: boolean
}

const LINES_MAX = 5

/**
 * Patterns of messages of ffmpeg and ffprobe 5 to 8 about an input that is damaged or ends too
 * early, although the run succeeds. Messages that a seek may also cause are omitted.
 */
const DAMAGE: Record<DamageKind, readonly RegExp[]> = {
  packet: [/corrupt input packet in stream \d/],
  decoding: [
    /Error while decoding stream #\d/,
    /Error submitting (?:a )?packet to (?:the )?decoder: Invalid data/,
    /Decoding error: Invalid data/,
    /error while decoding MB \d/,
    /concealing \d+ DC, \d+ AC/,
    /decode_frame\(\) failed$/,
  ],
  photo: [/^\[mjpeg @ [^\]]+\] overread \d/, /^\[png(?: @ [^\]]+)?\] chunk too big/],
  file: [
    /: partial file$/,
    /File ended prematurely/,
    /filesize and duration do not match/,
    /Error during demuxing: (?:Invalid data|Input\/output error)/,
    /^(?!\[)[^:]+: (?:Invalid data found when processing input|Input\/output error)$/,
  ],
}
const DAMAGE_KINDS = ["packet", "decoding", "photo", "file"] as const

/**
 * Matches the index of an input in a stderr line of ffmpeg, such as `stream #1:0` or `[aist#1:0/mp3
 * @ …]`.
 */
const INPUT_INDEX = /(?:stream |[avs]ist)#(\d+):\d/
/**
 * Matches audio formats whose header may contain a placeholder instead of the length, if the file
 * was written to a pipe. In these formats, a packet that is cut off proves no damage.
 */
const STREAMED_FORMATS = /(?:^|,)(?:wav|w64|caf|aiff|au|rf64|aifc?)(?:,|$)/
/**
 * Matches formats that can be decoded from any position, so that ffmpeg may try to decode metadata
 * tags as audio. In these formats, a decoding error proves no damage.
 */
const SCANNED_FORMATS = /(?:^|,)(?:mp[123]|mpga|aac|e?ac3|dts|mpe?g|vob)(?:,|$)/
const PHOTO_FORMATS = /(?:^|,)(?:image2|jpeg_pipe|jpe?g|png_pipe|png)(?:,|$)/

/**
 * Returns the kind of damage that a line of stderr reports; null if the line reports no damage.
 * `packet`: a packet is cut off. `decoding`: data cannot be decoded. `photo`: a photo ends too
 * early. `file`: the file is cut off or unreadable.
 */
export function classifyInputDamage(line: string): DamageKind | null {
  return DAMAGE_KINDS.find((kind) => DAMAGE[kind].some((each) => each.test(line))) ?? null
}

/**
 * Reports whether a line about damage proves damage of an input, given the formats of the inputs.
 * `inputs` contains the formats of all inputs in order, by ffmpeg's names or by file extensions.
 */
export function isCertainInputDamage(
  { kind, line }: DamageLine,
  inputs: readonly string[],
): boolean {
  const at = INPUT_INDEX.exec(line)?.[1]
  const only = at === undefined ? undefined : inputs[Number(at)]
  const formats = only === undefined ? inputs : [only]
  if (kind === "packet") return !formats.some((format) => STREAMED_FORMATS.test(format))
  if (kind === "decoding") return !formats.some((format) => SCANNED_FORMATS.test(format))
  if (kind === "photo") return formats.some((format) => PHOTO_FORMATS.test(format))
  return true
}

/**
 * Creates a reader for the stderr lines of one ffmpeg process. The reader collects the lines about
 * damaged inputs.
 */
export function createInputDamageReader() {
  const damage: DamageLine[] = []
  let isJoined = false
  return {
    readStderr(line: string): void {
      if (/DTS \d+ < \d+ out of order/.test(line)) isJoined = true
      const kind = classifyInputDamage(line)
      if (kind === null) return
      if (damage.filter((each) => each.kind === kind).length < LINES_MAX) {
        damage.push({ kind, line })
      }
    },
    end(): InputDamage {
      return { damage, isJoined }
    },
  }
}

/** Returns the first line that proves damage of an input; null if there is none. */
export function findInputDamageLine(
  lines: readonly string[],
  formats: readonly string[],
): string | null {
  const found = lines.find((line) => {
    const kind = classifyInputDamage(line)
    return kind !== null && isCertainInputDamage({ kind, line }, formats)
  })
  return found ?? null
}

/**
 * Returns the warning about a damaged input. `name` is null if it is unknown which of several
 * inputs is damaged. `line` is ffmpeg's message.
 */
export function inputDamageWarning(name: string | null, line: string): Warning {
  const detail = line.replace(/^(?:\[[^\]]*\] )+/, "").replace(/\.$/, "")
  const message = `${name ?? "An input"} is damaged or incomplete, so parts of the output may be missing: ${detail}.`
  return { code: "input_damaged", message: message.slice(0, MESSAGE_LENGTH_MAX) }
}
