import type { Warning } from "../../src/contract/warning.ts"

const MESSAGE_LENGTH_MAX = 1000

type DamageKind = "packet" | "decoding" | "photo" | "file"

/** A line in which a tool tells of damage. */
type DamageLine = { kind: DamageKind; line: string }

/** What a run of ffmpeg said of damage, whether that is certain or not. */
export type DamageNotes = {
  /** The first lines of each kind that tell of damage. */
  damage: readonly DamageLine[]
  /** Whether the times of an input begin anew, as where streams were joined byte by byte. */
  isJoined: boolean
}

const LINES_MAX = 5

/**
 * What ffmpeg and ffprobe 5 to 8 say of an input that is damaged, or ends too early, while they go
 * on with the rest. What also comes of a seek into a stream is left out.
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
  photo: [/^\[mjpeg @ [^\]]+\] overread \d/],
  file: [
    /: partial file$/,
    /File ended prematurely/,
    /filesize and duration do not match/,
    /Error during demuxing: (?:Invalid data|Input\/output error)/,
    /^(?!\[)[^:]+: (?:Invalid data found when processing input|Input\/output error)$/,
  ],
}
const DAMAGE_KINDS = ["packet", "decoding", "photo", "file"] as const

/** The input that a line is about, where it says so: `stream #1:0`, `[aist#1:0/mp3 @ …]`. */
const INPUT_INDEX = /(?:stream |[avs]ist)#(\d+):\d/
/** Formats of sound whose length may be a placeholder, as where it was written to a pipe. */
const STREAMED_FORMATS = /(?:^|,)(?:wav|w64|caf|aiff|au|rf64|aifc?)(?:,|$)/
/** Formats that are read from any place on, and may hold tags that look like sound. */
const SCANNED_FORMATS = /(?:^|,)(?:mp[123]|mpga|aac|e?ac3|dts|mpe?g|vob)(?:,|$)/
const PHOTO_FORMATS = /(?:^|,)(?:image2|jpeg_pipe|jpe?g)(?:,|$)/

/**
 * What kind of damage a line of a tool tells of: of a packet that is cut off, of what a decoder
 * cannot read, of a photo that ends too early, or of the file; null where of none.
 */
export function damageKind(line: string): DamageKind | null {
  return DAMAGE_KINDS.find((kind) => DAMAGE[kind].some((each) => each.test(line))) ?? null
}

/**
 * Whether a line means damage for certain, by the formats of all inputs in order, as ffmpeg names
 * them or as the ends of their names do.
 */
export function isDamage({ kind, line }: DamageLine, inputs: readonly string[]): boolean {
  const at = INPUT_INDEX.exec(line)?.[1]
  const only = at === undefined ? undefined : inputs[Number(at)]
  const formats = only === undefined ? inputs : [only]
  if (kind === "packet") return !formats.some((format) => STREAMED_FORMATS.test(format))
  if (kind === "decoding") return !formats.some((format) => SCANNED_FORMATS.test(format))
  if (kind === "photo") return formats.some((format) => PHOTO_FORMATS.test(format))
  return true
}

/** Opens a reader that takes notes of the damage of which one ffmpeg process tells. */
export function openDamageNotes() {
  const damage: DamageLine[] = []
  let isJoined = false
  return {
    readStderr(line: string): void {
      if (/DTS \d+ < \d+ out of order/.test(line)) isJoined = true
      const kind = damageKind(line)
      if (kind === null) return
      if (damage.filter((each) => each.kind === kind).length < LINES_MAX) {
        damage.push({ kind, line })
      }
    },
    end(): DamageNotes {
      return { damage, isJoined }
    },
  }
}

/** The first line that means damage for certain; null where none does. */
export function findDamageLine(
  lines: readonly string[],
  formats: readonly string[],
): string | null {
  const found = lines.find((line) => {
    const kind = damageKind(line)
    return kind !== null && isDamage({ kind, line }, formats)
  })
  return found ?? null
}

/** The warning of a damaged input; `name` is null where several inputs may be meant. */
export function damageWarning(name: string | null, line: string): Warning {
  const said = line.replace(/^(?:\[[^\]]*\] )+/, "").replace(/\.$/, "")
  const message = `${name ?? "An input"} is damaged or not complete, so that something may be missing: ${said}.`
  return { code: "input_damaged", message: message.slice(0, MESSAGE_LENGTH_MAX) }
}
