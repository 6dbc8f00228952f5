import { lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import { quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { graphsOf } from "./check-graphs.ts"
import type { Probes } from "./check-streams.ts"
import { MEDIUM_NAMES, muxersOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { readInput } from "./endless/input-streams.ts"
import { readChains } from "./graph.ts"
import type { Known } from "./known.ts"
import { linkGraph } from "./links.ts"
import type { OpenEnd } from "./links.ts"
import { takenBy } from "./output-streams.ts"

/** Formats that hold one stream of a medium and no second. */
const SINGLE: Record<Medium, RegExp> = {
  V: /^(?:gif|apng|webp|h264|hevc|ivf|flv)$/,
  A: /^(?:wav|flac|mp3|mp2|aiff|ac3|eac3|au|caf|wv|tta|flv)$/,
  S: /^(?:srt|webvtt|ass)$/,
}
const MEDIA: readonly { medium: Medium; letter: string; instead: string }[] = [
  { medium: "V", letter: "v", instead: "an .mp4 or .mkv" },
  { medium: "A", letter: "a", instead: "an .m4a or .mka" },
  { medium: "S", letter: "s", instead: "an .mkv" },
]

/** Outputs that get more streams than their format holds, and graphs that take more than there are. */
export function checkCounts(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  return [
    ...command.files.flatMap((file) => checkSingle(file, command, { known, probes })),
    ...checkFree(command, known, probes),
  ]
}

type Facts = { known: Known; probes: Probes }

function checkSingle(file: ReadFile, command: ReadCommand, { known, probes }: Facts): Refusal[] {
  const [muxer, ...others] = (file.kind === "output" && muxersOf(file, known)) || []
  const taken = muxer && others.length === 0 ? takenBy(file, muxer, { command, probes }) : null
  if (!muxer || !taken?.isMapped) return []
  for (const { medium, letter, instead } of MEDIA) {
    const own = taken.streams.filter((stream) => stream.medium === medium)
    // A cover of a file of sound is a picture of another kind.
    if (!SINGLE[medium].test(muxer.name) || own.length < 2 || own.some(({ isCover }) => isCover)) {
      continue
    }
    const mix = medium === "A" ? ", mix them by amix" : ""
    const message = `-map: the format ${muxer.name} of ${quote(file.word)} holds one stream of ${MEDIUM_NAMES[medium]}, and ${own.length} are mapped into it; map one alone, as -map 0:${letter}:0${mix}, or write ${instead}`
    return [{ code: "invalid_option", option: "-map", message }]
  }
  return []
}

/** Inputs of graphs without a label take streams that nothing has taken yet, of which there may be none. */
function checkFree(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  const graphs = graphsOf(command).filter(({ kind }) => kind === "complex")
  const linked = graphs.map(({ text }) => {
    const read = readChains(text)
    return "error" in read ? null : linkGraph(read.chains, known)
  })
  const taken: OpenEnd[] = []
  for (const links of linked) {
    if (!links || "error" in links) return []
    for (const end of links.inputs) taken.push(end)
  }
  return MEDIA.flatMap(({ medium, letter }) => {
    const name = MEDIUM_NAMES[medium]
    const own = taken.filter((end) => end.medium === medium)
    const wanting = own.filter(({ label }) => label === null)
    const [first] = wanting
    const count = first ? countFound(own, { medium, letter, command, known, probes }) : null
    if (!first || count === null || wanting.length <= count) return []
    const option = graphs[0]?.option ?? "-filter_complex"
    if (count === 0 && wanting.length === own.length) {
      const lack = `${option}: the filter ${first.filter} takes ${name}, and no input has any; leave it out, or give one more -i that has some`
      return [{ code: "stream_not_found" as const, option, message: lack }]
    }
    const unlabelled =
      wanting.length === 1
        ? `an input of ${first.filter} has no label, and`
        : `${wanting.length} inputs of filters like ${first.filter} have no label, and each`
    const free = ["none is", "one is"][count] ?? `${count} are`
    const message = `${option}: ${unlabelled} takes a stream of ${name} that nothing else takes, of which ${free} left; label what it is to take, as [0:${letter}], or give one more -i`
    return [{ code: "stream_not_found" as const, option, message }]
  })
}

type Counted = Facts & { medium: Medium; letter: string; command: ReadCommand }

/**
 * How many inputs of graphs without a label find a stream; null where that is not known. Labels take
 * any stream, and one without takes the first that is free when its turn comes.
 */
function countFound(ends: readonly OpenEnd[], { letter, ...counted }: Counted): number | null {
  const inputs = counted.command.files.filter(({ kind }) => kind === "input")
  const free = inputs.map((input) => placesOf(input, counted))
  let found = 0
  for (const { label } of ends) {
    if (label === null) {
      const places = free.find((each) => each === null || each.size > 0)
      if (places === null) return null
      const [place] = places ?? []
      if (place === undefined) continue
      places?.delete(place)
      found += 1
    } else {
      const [, number, own = letter, place = "0"] =
        /^(\d+)(?::([vas])(?::(\d+))?)?$/.exec(label) ?? []
      if (number !== undefined && own === letter) free[Number(number)]?.delete(Number(place))
    }
  }
  return found
}

/** The places of the streams of an input among those of a medium; null where they are not known. */
function placesOf(
  input: ReadFile,
  { medium, known, probes }: Omit<Counted, "letter">,
): Set<number> | null {
  const isKnown = probes.get(input.word) ?? lastValue(input, "f")?.toLowerCase() === "lavfi"
  const { streams } = readInput(input, known, probes)
  if (!isKnown || !streams) return null
  return new Set(streams.filter((stream) => stream.medium === medium).keys())
}
