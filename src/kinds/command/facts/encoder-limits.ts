import { allOptions, lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"
import { encoderOf, mediumOf, muxersOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { readNumber } from "./evaluate.ts"
import type { Known } from "./known.ts"

/** Levels of H.264, as ten times themselves. */
const LEVELS = "9 10 11 12 13 20 21 22 30 31 32 40 41 42 50 51 52 60 61 62".split(" ")
/** Formats of pixels that profiles have not. */
const BEYOND_PROFILES: Record<string, [formats: RegExp, instead: string]> = {
  "libx264 baseline": [/4[24][24]|10|gray/, "-pix_fmt yuv420p"],
  "libx264 main": [/4[24][24]|10|gray/, "-pix_fmt yuv420p"],
  "libx264 high": [/4[24][24]|10/, "-pix_fmt yuv420p"],
  "libx264 high10": [/4[24][24]/, "-pix_fmt yuv420p10le"],
  "libx264 high422": [/444/, "-pix_fmt yuv422p"],
  "libx265 main": [/4[24][24]|1[02]/, "-pix_fmt yuv420p"],
}
/** Channels that encoders take at most. */
const CHANNELS: Record<string, number> = {
  libmp3lame: 2,
  mp2: 2,
  ac3: 6,
  eac3: 6,
  libvorbis: 8,
  libopus: 8,
  flac: 8,
  aac: 16,
}
/** Bits of sound a second that encoders take of each channel. */
const RATES: Record<string, [least: number, most: number]> = {
  libopus: [500, 256_000],
  libvorbis: [1000, 250_000],
}

type Place = { file: ReadFile; encoder: string; command: ReadCommand; probes: Probes }

/** What encoders do not take of values that their help says nothing of. */
export function checkLimits(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  return command.files.flatMap((file) => {
    if (file.kind !== "output" || !muxersOf(file, known)) return []
    return (["V", "A"] as const).flatMap((medium) => {
      const encoder = encoderOf(file, medium, known)
      const isOut = file.options.some(({ name }) => name === (medium === "V" ? "vn" : "an"))
      if (!encoder || isOut) return []
      const place = { file, encoder, command, probes }
      return file.options.flatMap((option) => {
        const message = option.value === null ? null : describe(option, medium, place)
        return message === null
          ? []
          : [
              {
                code: "invalid_option" as const,
                option: option.word,
                message: `${option.word}: ${quote(option.value ?? "")}: ${message}`,
              },
            ]
      })
    })
  })
}

function describe(option: ReadOption, medium: Medium, place: Place): string | null {
  const { name } = option
  const value = option.value ?? ""
  const own = mediumOf(option)
  if ((own !== null && own !== medium) || /:\d+$/.test(option.word)) return null
  if (medium === "A") return describeSound(name, value, place)
  const { encoder, file } = place
  if (name === "level" && encoder.startsWith("libx264")) return describeLevel(value)
  if (name === "crf" && encoder === "libx265") {
    return (readNumber(value) ?? 0) > 51 ? "expected 0 to 51, as 28" : null
  }
  if (name === "x264-params" || name === "x265-params") return describeParameters(value)
  if (name === "profile") return describeProfile(value, lastValue(file, "pix_fmt"), encoder)
  return null
}

function describeLevel(value: string): string | null {
  const number = Number.parseFloat(value)
  const tenfold = number < 7 ? Math.floor(10 * number + 0.5) : Math.trunc(number)
  return (!value.includes(",") && LEVELS.includes(String(tenfold))) || value === "1b"
    ? null
    : "expected a level of H.264, as 3.1, 4.0 or 4.2"
}

function describeProfile(value: string, format: string | null, encoder: string): string | null {
  const key = `${encoder} ${value}`
  const found = Object.hasOwn(BEYOND_PROFILES, key) ? BEYOND_PROFILES[key] : undefined
  if (!found || format === null || !found[0].test(format)) return null
  return `this profile has no ${format}; write ${found[1]}, or leave -profile:v out`
}

/** Parameters are pairs; ffmpeg takes no lone names among them. */
function describeParameters(value: string): string | null {
  const lone = /[\\'"]/.test(value)
    ? undefined
    : value.split(":").find((part) => part !== "" && !part.includes("="))
  return lone === undefined ? null : `${quote(lone)} has no value; write it as ${lone}=1`
}

function describeSound(name: string, value: string, place: Place): string | null {
  const { encoder } = place
  const most = Object.hasOwn(CHANNELS, encoder) ? (CHANNELS[encoder] ?? Infinity) : Infinity
  const number = readNumber(value)
  if (number === null) return null
  if (name === "ac") {
    return number > most ? `${encoder} takes ${most} channels at most; write -ac 2` : null
  }
  const rates = Object.hasOwn(RATES, encoder) ? RATES[encoder] : undefined
  if (!/^(?:b|ab)$/.test(name) || !rates || number === 0) return null
  const channels = channelsOf(place)
  const [least, each] = rates
  if (number >= least && number <= each * (channels ?? most)) return null
  const remedy = number < least ? `write ${value}k` : "write less, as 128k"
  return `${encoder} does not take so ${number < least ? "few" : "many"} bits a second; ${remedy}`
}

/** How many channels the sound has; null where that is not known. */
function channelsOf({ file, command, probes }: Place): number | null {
  const given = readNumber(lastValue(file, "ac") ?? "")
  const graphs = allOptions(command)
  if (given !== null && given > 0) return given
  if (graphs.some(({ name }) => /^(?:af|filter\w*|lavfi)$/.test(name))) return null
  const inputs = command.files.filter(({ kind }) => kind === "input")
  const streams = inputs.flatMap(({ word }) => probes.get(word)?.streams ?? [{}])
  const counts = streams.flatMap(({ codec_type: type, channels }) => {
    return type === undefined || type === "audio" ? [channels] : []
  })
  const [only, ...others] = counts
  return typeof only === "number" && others.length === 0 ? only : null
}
