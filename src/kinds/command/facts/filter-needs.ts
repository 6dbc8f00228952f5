import type { ChainFilter } from "./graph.ts"
import type { KnownEntry } from "./known.ts"
import { evaluate, readExpression } from "./evaluate.ts"
import { expectedSize } from "./values.ts"

/** The values of a filter's options by the first name of each, in the order of its options. */
export type FilterValues = ReadonlyMap<string, string>

/** Names what a filter is given: options without a name have that of their place. */
export function valuesOf({ options }: ChainFilter, entry: KnownEntry): FilterValues {
  const values = new Map<string, string>()
  for (const [place, { name, value }] of options.entries()) {
    const own =
      name === null ? entry.options[place] : entry.options.find(({ names }) => names.includes(name))
    values.set(own?.names[0] ?? name ?? "", value)
  }
  return values
}

/** What a filter lacks, or has of which the parts do not fit each other; null where it may work. */
export function lackOf(filter: ChainFilter, entry: KnownEntry): string | null {
  const find = Object.hasOwn(NEEDS, filter.name) ? NEEDS[filter.name] : undefined
  return find?.(valuesOf(filter, entry)) ?? null
}

const NEEDS: Record<string, (values: FilterValues) => string | null> = {
  drawtext: (values) => {
    const has = ["text", "textfile", "timecode", "text_source"].some((name) => values.has(name))
    return has ? null : "it has no text; write text=Hello, or textfile= and a key"
  },
  subtitles: lackOfFile,
  ass: lackOfFile,
  scale: lackOfHeight,
  delogo: (values) => {
    const left = ["x", "y", "w", "h"].filter((name) => !values.has(name))
    return left.length === 0
      ? null
      : `it needs ${left.join(", ")}; write delogo=x=10:y=10:w=80:h=40`
  },
  fps: (values) => {
    const rate = numberOf(values.get("fps") ?? "25")
    return rate !== null && !(rate > 0 && rate < Infinity)
      ? "expected more than 0 frames a second, as fps=25"
      : null
  },
  unsharp: (values) => {
    const even = [...values].find(([name, value]) => {
      return /_msize_[xy]$/.test(name) && Number(value) % 2 === 0
    })
    return even ? `${even[0]}=${even[1]} is even, and it takes odd sizes, as 5` : null
  },
  aecho: (values) => {
    const delays = values.get("delays")?.split("|").length ?? 1
    const decays = values.get("decays")?.split("|").length ?? 1
    if (delays === decays) return null
    return `it has ${delays} delay${delays === 1 ? "" : "s"} and ${decays} decay${decays === 1 ? "" : "s"}; write as many of each, with | between`
  },
  lut3d: (values) => {
    const file = values.get("file") ?? "x.cube"
    return /\.(?:3dl|cube|dat|m3d|csp)$/i.test(file) || !/\.\w+$/.test(file)
      ? null
      : `${file} is no table of colors; give a .cube, .3dl, .dat, .m3d or .csp file`
  },
  crop: (values) => {
    const wrong = ["out_w", "out_h"].find((name) => /\b[xy]\b/.test(values.get(name) ?? ""))
    return wrong === undefined
      ? null
      : "its width and height cannot hold x and y, which come after them; write iw and ih"
  },
  trim: lackOfSpan,
  atrim: lackOfSpan,
}

function lackOfFile(values: FilterValues): string | null {
  return values.get("filename")
    ? null
    : "it names no file; write the key of one, as subtitles={{in_2}}"
}

/** A width alone is read as a size, as `640x480` or hd720. */
function lackOfHeight(values: FilterValues): string | null {
  const width = values.get("w")
  if (width === undefined || values.has("h") || values.has("size")) return null
  if (expectedSize(width) === null || /[\\'"]/.test(width)) return null
  return `it has a width and no height; write scale=${width}:-2 to keep the shape`
}

function lackOfSpan(values: FilterValues): string | null {
  const start = numberOf(values.get("start") ?? "")
  const end = numberOf(values.get("end") ?? "")
  if (start === null || end === null || end > start || values.size > 2) return null
  return `its end ${end} is not behind its start ${start}; write a later end, or duration= for a length`
}

function numberOf(value: string): number | null {
  const read = readExpression(value, { variables: [] })
  return read && "kind" in read ? evaluate(read, {}) : null
}
