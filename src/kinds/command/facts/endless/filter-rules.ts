import { parseTime } from "../../../../contract/media-time.ts"
import type { ChainFilter } from "../graph.ts"
import { findOption } from "../known.ts"
import type { Known, KnownEntry } from "../known.ts"
import { allOf, anyOf, isBound, LASTING_FRAMES, LASTING_HOURS, LASTING_SAMPLES } from "./fate.ts"
import type { Fate } from "./fate.ts"

/** The values of a filter by the first names of its options. */
type Values = ReadonlyMap<string, string>

const FOR_EVER = "without end"
/** Sources of sound that go on for ever where their length is 0. */
const DURATION_NEVER = /^(?:sine|anoisesrc)$/
const FOR_LONG = `for more than ${LASTING_HOURS} hours`
/** Of sound that is repeated there is as much as this, if so much is asked for. */
const SAMPLES_OF_FRAME = 1024

type Ruling = { name: string; option: string; values: Values; inputs: readonly Fate[] }

/** Whether what a filter makes ends; one that is not here ends where any of what it reads does. */
const RULES: ReadonlyMap<string, (ruling: Ruling) => Fate> = new Map([
  ...["trim", "atrim"].map((name) => [name, cut] as const),
  ...["loop", "aloop"].map((name) => [name, repeat] as const),
  ["apad", padSound],
  ["tpad", padPictures],
  ["zoompan", zoom],
  ...words("segment asegment streamselect astreamselect").map(
    (name) => [name, () => null] as const,
  ),
  ...words("overlay blend alphamerge haldclut lut2 psnr ssim libvmaf").map(
    (name) => [name, beside] as const,
  ),
  ...words("hstack vstack xstack").map((name) => [name, stack] as const),
  ...words("mix amix interleave ainterleave").map((name) => [name, mix] as const),
  ["concat", ({ inputs }) => anyOf(inputs)],
  // The first is left behind once the second begins, and sound fades so in some versions.
  ...words("xfade acrossfade").map((name) => [name, second] as const),
  ["afir", ({ inputs }) => inputs[0] ?? null],
])

/** Names of filters, or parts of them, that may make what never ends of what does, or of nothing. */
const LASTING =
  /apad|tpad|loop|zoompan|src|color|sine|bars|mandelbrot|life|cellauto|allrgb|allyuv|gradients|sierpinski|perlin|zoneplate/

/** Whether a graph that reads nothing endless may make it; most make none, and need not be read. */
export function mayLast(text: string): boolean {
  return LASTING.test(text)
}

/** Sources that have no end and no option that gives them one. */
const LASTING_SOURCES = /^(?:mandelbrot|life|cellauto)$/

/** The fates of what a filter makes, of those of what it reads; `option` is that of its graph. */
export function fatesAfter(
  filter: ChainFilter,
  { inputs, outputs, option, known }: FilterPlace,
): Fate[] {
  const { name } = filter
  const entry = known.find("filters", name)
  if (!entry) return Array.from({ length: outputs }, () => null)
  // What it scales, and what it scales by.
  if (name === "scale2ref") return [inputs[0] ?? null, inputs[1] ?? null]
  const rule = RULES.get(name)
  if (!rule && inputs.length > 0) return Array.from({ length: outputs }, () => allOf(inputs))
  const ruling = { name, option, values: valuesOf(filter, entry), inputs }
  const fate = rule && inputs.length > 0 ? rule(ruling) : sourceOf(ruling, entry)
  return Array.from({ length: outputs }, () => fate)
}

/** Where a filter stands: the fates of what it reads, how many it makes, and its graph's option. */
export type FilterPlace = {
  inputs: readonly Fate[]
  outputs: number
  option: string
  known: Known
}

function valuesOf({ options }: ChainFilter, entry: KnownEntry): Values {
  return new Map(
    options.flatMap(({ name, value }, place) => {
      const known = name === null ? entry.options[place] : findOption(entry.options, name)
      const first = known?.names[0] ?? name
      return first === null ? [] : [[first, value] as const]
    }),
  )
}

function sourceOf({ name, option, values }: Ruling, entry: KnownEntry): Fate {
  if (name.endsWith("movie")) {
    if (values.get("loop") !== "0") return null
    return { option, why: `${name} with loop=0 repeats its file without end`, mend: null }
  }
  const hasDuration = findOption(entry.options, "duration") !== null
  if (!hasDuration && !LASTING_SOURCES.test(name)) return null
  const duration = values.get("duration")
  if (duration === undefined || !hasDuration) {
    const mend = hasDuration ? `give ${name} an end, as duration=5` : null
    return { option, why: `the source ${name} has no end`, mend }
  }
  const isNone = DURATION_NEVER.test(name) && parseTime(duration) === 0
  if (isBound(duration) && !isNone) return null
  if (isNone) {
    const mend = `give ${name} an end, as duration=5`
    return { option, why: `the source ${name} has no end with duration=${duration}`, mend }
  }
  const why = `the source ${name} lasts more than ${LASTING_HOURS} hours by duration=${duration}`
  return { option, why, mend: `give ${name} an earlier end, as duration=5` }
}

function cut({ values, inputs }: Ruling): Fate {
  const isCut = [...values].some(([name, value]) => {
    return name.startsWith("end_") || (/^(?:end|duration)$/.test(name) && isBound(value))
  })
  return isCut ? null : (inputs[0] ?? null)
}

function repeat({ name, option, values, inputs }: Ruling): Fate {
  const [input = null] = inputs
  const [times, size] = [Number(values.get("loop") ?? 0), Number(values.get("size") ?? 0)]
  const isFromStart = Number(values.get("start") ?? 0) === 0 && !values.has("time")
  const isLong =
    name === "loop"
      ? times > LASTING_FRAMES
      : times * Math.min(size, SAMPLES_OF_FRAME) > LASTING_SAMPLES
  if (input || !(times === -1 || isLong) || !(size > 0) || !isFromStart) return input
  const why = `${name} with loop=${times} repeats its input ${isLong ? FOR_LONG : FOR_EVER}`
  return {
    option,
    why,
    mend: `give ${name} ${isLong ? "fewer times" : "a number of times"}, as loop=3`,
  }
}

function padSound({ name, option, values, inputs }: Ruling): Fate {
  const lengths = ["pad_len", "whole_len", "pad_dur", "whole_dur"].flatMap((each) => {
    const value = values.get(each)
    return value === undefined || value === "-1" ? [] : [{ each, value }]
  })
  const isLong = lengths.some(({ each, value }) => each.endsWith("dur") && !isBound(value))
  if (inputs[0] || (lengths.length > 0 && !isLong)) return inputs[0] ?? null
  const why = `${name} adds silence ${isLong ? FOR_LONG : FOR_EVER}`
  return { option, why, mend: `give ${name} a length, as whole_dur=10` }
}

function padPictures({ name, option, values, inputs }: Ruling): Fate {
  const stop = Number(values.get("stop") ?? 0)
  const isLong = stop > LASTING_FRAMES || !isBound(values.get("stop_duration") ?? "0")
  if (inputs[0] || (stop !== -1 && !isLong)) return inputs[0] ?? null
  const why =
    stop === -1 ? `${name} with stop=-1 adds frames ${FOR_EVER}` : `${name} adds frames ${FOR_LONG}`
  return { option, why, mend: `give ${name} a length, as stop_duration=5` }
}

/** Of each frame that it reads it makes so many. */
function zoom({ name, option, values, inputs }: Ruling): Fate {
  const frames = Number(values.get("d") ?? 90)
  if (inputs[0] || !(frames > LASTING_FRAMES)) return inputs[0] ?? null
  return { option, why: `${name} makes frames ${FOR_LONG}`, mend: `give ${name} fewer, as d=125` }
}

/** Filters that lay pictures beside each other in time: they go on until the last has ended. */
function beside({ name, values, inputs }: Ruling): Fate {
  if (/^(?:endall|1)$/.test(values.get("eof_action") ?? "") || isOn(values.get("shortest"))) {
    return allOf(inputs)
  }
  const isFirstAlone =
    /^(?:pass|2)$/.test(values.get("eof_action") ?? "") || isOff(values.get("repeatlast"))
  return isFirstAlone ? (inputs[0] ?? null) : mendable(inputs, `add shortest=1 to ${name}`)
}

function stack({ name, values, inputs }: Ruling): Fate {
  if (isOn(values.get("shortest"))) return allOf(inputs)
  return mendable(inputs, `add shortest=1 to ${name}`)
}

function mix({ name, values, inputs }: Ruling): Fate {
  const duration = values.get("duration") ?? "longest"
  if (/^(?:first|2)$/.test(duration)) return inputs[0] ?? null
  if (!/^(?:longest|0)$/.test(duration)) return allOf(inputs)
  return mendable(inputs, `add duration=shortest to ${name}`)
}

function second({ inputs }: Ruling): Fate {
  return inputs[1] ?? null
}

/** The first of streams that never ends; where another does, what would end with that one. */
function mendable(inputs: readonly Fate[], mend: string): Fate {
  const fate = anyOf(inputs)
  return fate && inputs.includes(null) ? { ...fate, mend } : fate
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !isOff(value)
}

function isOff(value: string | undefined): boolean {
  return /^(?:0|false|no|n|off|disabled?)$/i.test(value ?? "")
}

function words(text: string): string[] {
  return text.split(" ")
}
