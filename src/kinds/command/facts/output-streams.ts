import { allOptions, lastValue, mapsOf } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { ProbeResult } from "../../../contract/probe.ts"
import type { Probes } from "./check-streams.ts"
import { choosesCodec, mediumOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { metaOf } from "./known.ts"
import type { KnownEntry } from "./known.ts"

type ProbedStream = ProbeResult["streams"][number]

/** A stream of an input that may come into an output; its medium is null where it is another one. */
export type TakenStream = { medium: Medium | null; codec: string; isCover: boolean }

/** Streams that come into an output; `isWhole` unless filters give it more. */
export type Taken = { streams: TakenStream[]; isMapped: boolean; isWhole: boolean }

const MEDIA: readonly { medium: Medium; type: string; letter: string; without: string }[] = [
  { medium: "V", type: "video", letter: "v", without: "vn" },
  { medium: "A", type: "audio", letter: "a", without: "an" },
  { medium: "S", type: "subtitle", letter: "s", without: "sn" },
]

/** Options that give an output streams or codecs of which no table knows. */
const BEYOND = /^(?:attach|target)$/
const COMPLEX = /^(?:filter_complex|filter_complex_script|lavfi)$/

/**
 * The streams that an output takes by its maps, and else those of which ffmpeg takes one of each medium
 * that the format has a codec for; null where the probes of the inputs do not tell it.
 */
export function takenBy(
  file: ReadFile,
  muxer: KnownEntry,
  { command, probes }: { command: ReadCommand; probes: Probes },
): Taken | null {
  const words = allOptions(command)
  if (words.some(({ name }) => BEYOND.test(name))) return null
  const inputs = command.files.filter(({ kind }) => kind === "input")
  const maps = mapsOf(file)
  if (maps.length === 0) {
    if (words.some(({ name }) => COMPLEX.test(name))) return null
    const all = inputs.map((input) => streamsOf(input, probes))
    if (inputs.length === 0 || all.includes(null)) return null
    const streams = all
      .flatMap((each) => each ?? [])
      .filter((stream) => isChosen(stream.medium, file, muxer))
    return { streams: without(streams, file), isMapped: false, isWhole: true }
  }
  const mapped = maps.filter((map) => !map.startsWith("["))
  const streams = mapped.map((map) => streamsOfMap(map, inputs, probes))
  if (streams.includes(null)) return null
  return {
    streams: without(
      streams.flatMap((each) => each ?? []),
      file,
    ),
    isMapped: true,
    isWhole: mapped.length === maps.length,
  }
}

/** What an input holds; null where that is not known. */
function streamsOf(input: ReadFile, probes: Probes): TakenStream[] | null {
  const probe = probes.get(input.word)
  if (!probe || probe.streams.length === 0 || lastValue(input, "f") !== null) return null
  if (input.options.some(({ name }) => /^(?:[vasd]n|discard)$/.test(name))) return null
  return probe.streams.map((stream) => {
    const { codec_type: type, codec_name: codec } = stream
    return {
      medium: MEDIA.find((each) => each.type === type)?.medium ?? null,
      codec: typeof codec === "string" ? codec : "",
      isCover: isAttached(stream),
    }
  })
}

/** Whether a stream is a picture that belongs to sound, as a cover. */
export function isAttached({ disposition }: ProbedStream): boolean {
  return typeof disposition === "object" && disposition !== null && "attached_pic" in disposition
    ? disposition.attached_pic !== 0
    : false
}

/** The streams of `0`, `0:1`, `0:v` and `0:v:1`; null for maps that say more, or take away. */
function streamsOfMap(
  map: string,
  inputs: readonly ReadFile[],
  probes: Probes,
): TakenStream[] | null {
  const [, number, letter, at] = /^(\d+)(?::([vas]))?(?::(\d+))?\??$/.exec(map) ?? []
  const input = inputs[Number(number)]
  const all = input && streamsOf(input, probes)
  if (!all) return null
  const medium = MEDIA.find((each) => each.letter === letter)?.medium
  const own = medium === undefined ? all : all.filter((stream) => stream.medium === medium)
  return at === undefined ? own : own.slice(Number(at), Number(at) + 1)
}

/** Whether ffmpeg takes a stream of this medium by itself; of another one, it may. */
function isChosen(medium: Medium | null, { options }: ReadFile, muxer: KnownEntry): boolean {
  if (medium === null || metaOf(muxer, medium.toLowerCase()).length > 0) return true
  return medium === "S" && options.some((each) => choosesCodec(each.name) && mediumOf(each) === "S")
}

function without(streams: readonly TakenStream[], { options }: ReadFile): TakenStream[] {
  const left = MEDIA.filter((each) => options.some(({ name }) => name === each.without))
  return streams.filter(({ medium }) => !left.some((each) => each.medium === medium))
}
