import { evaluate, readExpression } from "./evaluate.ts"
import type { ChainFilter } from "./graph.ts"
import type { Known } from "./known.ts"
import { valuesOf } from "./filter-needs.ts"
import type { FilterValues } from "./filter-needs.ts"

/** Width and height of pictures in pixels; null where only the run tells them. */
export type Size = readonly [width: number, height: number] | null

/** What comes out of a graph: the sizes by label, that of its last filter, and what does not fit. */
export type Sized = { labels: ReadonlyMap<string, Size>; last: Size; faults: string[] }

/** Filters that keep the size of pictures. */
const KEEPING =
  /^(?:format|noformat|setsar|setdar|fps|setpts|hflip|vflip|eq|hue|fade|drawtext|drawbox|drawgrid|unsharp|null|split|trim|select|boxblur|gblur|negate|curves|colorkey|chromakey|lut|lutrgb|lutyuv|colorbalance|colorchannelmixer|vignette|noise|hqdn3d|yadif|bwdif|subtitles|ass|overlay|realtime|reverse|loop|tpad|settb|colorspace|deshake|copy)$/
/** Filters whose inputs have to be of one size, and by which side. */
const JOINING: Record<string, "width" | "height" | "size"> = {
  hstack: "height",
  vstack: "width",
  xfade: "size",
  concat: "size",
}

/** Sizes from outside: of the first filter without labels, of labels, and of all inputs where they are known. */
type Outside = { first: Size; sizeOf: (label: string) => Size; all?: readonly Size[] }

/** Follows the sizes of pictures through chains of filters. */
export function followSizes(
  chains: readonly ChainFilter[][],
  known: Known,
  { first, sizeOf, all = [] }: Outside,
): Sized {
  const labels = new Map<string, Size>()
  const faults: string[] = []
  let last: Size = null
  for (const [place, chain] of chains.entries()) {
    last = place === 0 ? first : null
    for (const [at, filter] of chain.entries()) {
      const given = filter.inputs.map((label) => labels.get(label) ?? sizeOf(label))
      const before = at > 0 || filter.inputs.length === 0 ? [last] : []
      // The only filter without labels takes the inputs in turn.
      const isOnly = chains.length === 1 && at === 0 && filter.inputs.length === 0
      const inputs = isOnly && all.length === 2 ? all : [...given, ...before]
      const made = passFilter(filter, inputs, known)
      if (made.fault !== null) faults.push(`the filter ${filter.name}: ${made.fault}`)
      last = made.size
      for (const label of filter.outputs) labels.set(label, last)
    }
  }
  return { labels, last, faults }
}

type Passed = { size: Size; fault: string | null }

function passFilter(filter: ChainFilter, inputs: readonly Size[], known: Known): Passed {
  const { name } = filter
  const [size = null] = inputs
  const entry = known.find("filters", name)
  if (!entry) return { size: null, fault: null }
  const values = valuesOf(filter, entry)
  if (Object.hasOwn(JOINING, name)) return join(filter, inputs, values)
  if (KEEPING.test(name)) return { size, fault: null }
  switch (name) {
    case "scale":
      return limit(scale(size, values))
    case "crop":
      return size ? crop(size, values) : { size: null, fault: null }
    case "pad":
      return size ? pad(size, values) : { size: null, fault: null }
    case "delogo":
      return { size, fault: size && outside(size, values) }
    case "transpose":
      return {
        size: size && values.get("passthrough") === undefined ? [size[1], size[0]] : null,
        fault: null,
      }
    default:
      return { size: null, fault: null }
  }
}

/** The number of an expression of sizes; null where it holds what is not known here. */
function sideOf(text: string, size: Size, more: Record<string, number> = {}): number | null {
  const [width, height] = size ?? []
  const values: Record<string, number> = {
    ...more,
    ...(width !== undefined &&
      height !== undefined && { iw: width, in_w: width, ih: height, in_h: height }),
  }
  const read = readExpression(text, { variables: Object.keys(values) })
  const number = read && "kind" in read ? evaluate(read, values) : null
  return number === null || !Number.isFinite(number) ? null : number
}

/** The sides that two options of a filter ask for, those of the picture where they are left out. */
function sidesOf(
  values: FilterValues,
  [wide, high]: readonly [string, string],
  size: Size,
): readonly [number | null, number | null] {
  const width = sideOf(values.get(wide) ?? "iw", size)
  const more = width === null ? {} : { ow: width, out_w: width }
  return [width, sideOf(values.get(high) ?? "ih", size, more)]
}

/** As many pixels as ffmpeg makes a picture of, about. */
const PIXELS_MAX = 2 ** 28

function limit(size: Size): Passed {
  if (!size || size[0] * size[1] < PIXELS_MAX) return { size, fault: null }
  return { size: null, fault: `${size.join("x")} is larger than ffmpeg makes pictures; write less` }
}

/** Why a logo cannot be taken out: it is to lie within the picture, a pixel from its edges at least. */
function outside(size: readonly [number, number], values: FilterValues): string | null {
  const [x, y, w, h] = ["x", "y", "w", "h"].map((name) => Number(values.get(name) ?? Number.NaN))
  if (x === undefined || y === undefined || w === undefined || h === undefined) return null
  const isOutside = x < 1 || y < 1 || x + w > size[0] || y + h > size[1]
  return isOutside
    ? `its place is not within the picture, which has ${size.join("x")}; begin at x=1:y=1, and end before the other edges`
    : null
}

function scale(size: Size, values: FilterValues): Size {
  const isShape = [...values.keys()].some((name) => /^(?:force_|reset_sar)/.test(name))
  const sides = /^(\d+)\D(\d+)$/.exec(
    values.get("size") ?? (values.has("h") ? "" : (values.get("w") ?? "")),
  )
  if (isShape) return null
  if (sides) return [Number(sides[1]), Number(sides[2])]
  if (values.has("size")) return null
  const [width, height] = sidesOf(values, ["w", "h"], size)
  if (width === null || height === null) return null
  const asked = [Math.trunc(width), Math.trunc(height)] as const
  if (asked.every((side) => side > 0)) return [asked[0], asked[1]]
  if (!size) return null
  if (asked.every((side) => side < 0)) return size
  const [w, h] = [asked[0] || size[0], asked[1] || size[1]]
  if (w < 0) return [follow(h, size[0] / size[1], w), h]
  return h < 0 ? [w, follow(w, size[1] / size[0], h)] : [w, h]
}

/** A side that follows the other, divisible by what is asked behind the minus. */
function follow(other: number, ratio: number, asked: number): number {
  const by = Math.max(1, -asked)
  return Math.round((other * ratio) / by) * by
}

function crop(size: readonly [number, number], values: FilterValues): Passed {
  const [width, height] = sidesOf(values, ["out_w", "out_h"], size)
  if (values.get("keep_aspect") !== undefined || width === null || height === null) {
    return { size: null, fault: null }
  }
  const shown = size.join("x")
  // Sides are made even before they are compared.
  if (width >= size[0] + 2 || height >= size[1] + 2) {
    return {
      size: null,
      fault: `${Math.trunc(width)}x${Math.trunc(height)} is larger than the picture, which has ${shown}; crop less, or scale it before`,
    }
  }
  if (width < 1 || height < 1) {
    return {
      size: null,
      fault: `${Math.trunc(width)}x${Math.trunc(height)} leaves nothing of the picture; write sides above 0, as crop=iw/2:ih/2`,
    }
  }
  // What is not halved keeps odd sides, so that of those nothing is known.
  const isEven = width % 2 === 0 && height % 2 === 0
  return { size: isEven ? [width, height] : null, fault: null }
}

function pad(size: readonly [number, number], values: FilterValues): Passed {
  const [width, height] = sidesOf(values, ["width", "height"], size)
  if (values.has("aspect") || width === null || height === null) return { size: null, fault: null }
  const sides = [Math.trunc(width) || size[0], Math.trunc(height) || size[1]] as const
  if (sides[0] >= size[0] && sides[1] >= size[1]) {
    const isEven = sides.every((side) => side % 2 === 0)
    return { size: isEven ? sides : null, fault: null }
  }
  return {
    size: null,
    fault: `${sides.join("x")} is smaller than the picture, which has ${size.join("x")}; pad to more, or scale the picture before`,
  }
}

function join({ name }: ChainFilter, inputs: readonly Size[], values: FilterValues): Passed {
  const by = JOINING[name] ?? "size"
  const [first, ...others] = inputs.filter((size) => size !== null)
  const none = { size: null, fault: null }
  if (!first || values.get("unsafe") !== undefined) return none
  const other = others.find(([width, height]) => {
    return (by !== "height" && width !== first[0]) || (by !== "width" && height !== first[1])
  })
  if (!other) return name === "xfade" && inputs.length > 1 ? { size: first, fault: null } : none
  const sides = { width: `${first[0]}:-2`, height: `-2:${first[1]}`, size: first.join(":") }
  return {
    size: null,
    fault: `its inputs have ${first.join("x")} and ${other.join("x")}, and need the same ${by}; scale one of them before, as scale=${sides[by]}`,
  }
}
