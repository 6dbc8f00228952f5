import type { Size } from "./geometry.ts"

/** What a stream says of its colours, by ffmpeg's names; null or "unknown" where it says nothing. */
export type Colour = {
  range: string | null
  matrix: string | null
  transfer: string | null
  primaries: string | null
}

/** How the colours of a picture become those of BT.709 with 8 bits. */
export type Conversion =
  /** Only the matrix between RGB and YUV differs; null where there is none, as in RGB. */
  | { type: "matrix"; from: string | null; primaries: string }
  /** Colours that BT.709 does not have, as of films in HDR. */
  | { type: "gamut"; filters: readonly string[] }

const HDR_TRANSFERS = new Set(["smpte2084", "arib-std-b67"])
/** Other transfer functions are those of BT.709, or nearly. */
const KNOWN_TRANSFERS = new Set([...HDR_TRANSFERS, "iec61966-2-1"])
const WIDE_PRIMARIES = new Set(["bt2020", "smpte431", "smpte432"])
const WIDE_MATRICES = new Set(["bt2020nc", "bt2020c", "ictcp"])
/** Primaries of SD, which are so close to those of BT.709 that they are told and not converted. */
const SD_PRIMARIES = new Set(["smpte170m", "bt470bg", "smpte240m"])
/** Matrices by ffmpeg's names of streams, and of the filter "scale". */
const SCALE_MATRICES: Record<string, string> = {
  bt709: "bt709",
  smpte170m: "smpte170m",
  bt470bg: "bt470",
  fcc: "fcc",
  smpte240m: "smpte240m",
}
/** A picture that does not say so is taken for one of HD where it is larger than this. */
const SD_SIZE_MAX: Size = { width: 1024, height: 576 }
const RGB = /^(?:(?:0|x2)?(?:rgb|bgr)|gbr|argb|abgr|pal8|bayer)/

/** Whether the picture is RGB, which has no matrix. */
export function isRgb(pixelFormat: string): boolean {
  return RGB.test(pixelFormat)
}

/** How the colours of a picture are converted. */
export function planConversion(picture: {
  pixelFormat: string
  size: Size
  colour: Colour
}): Conversion {
  const { pixelFormat, size, colour } = picture
  const transfer = known(colour.transfer)
  const primaries = known(colour.primaries)
  const matrix = isRgb(pixelFormat) ? null : known(colour.matrix)
  const isHdr = transfer !== null && HDR_TRANSFERS.has(transfer)
  const isWide = WIDE_PRIMARIES.has(primaries ?? "") || WIDE_MATRICES.has(matrix ?? "")
  if (isHdr || isWide) {
    const from = {
      min: isRgb(pixelFormat) ? "gbr" : zscaleMatrix(matrix),
      tin: transfer !== null && KNOWN_TRANSFERS.has(transfer) ? transfer : "bt709",
      pin: primaries ?? "bt2020",
      rin: colour.range === "pc" || isRgb(pixelFormat) ? "pc" : "tv",
    }
    return { type: "gamut", filters: isHdr ? toneMap(from) : [zscale({ ...from, ...BT709 })] }
  }
  return {
    type: "matrix",
    from: isRgb(pixelFormat) ? null : (SCALE_MATRICES[matrix ?? ""] ?? likelyMatrix(size)),
    primaries: primaries !== null && SD_PRIMARIES.has(primaries) ? primaries : "bt709",
  }
}

const BT709 = { p: "bt709", t: "bt709", m: "bt709", r: "tv" }

/** Linear light is brought into what a screen of 100 nits shows, as players do it. */
function toneMap(from: Record<string, string>): string[] {
  return [
    zscale({ ...from, t: "linear", npl: "100", p: "bt709" }),
    "format=gbrpf32le",
    "tonemap=hable:desat=0",
    zscale({ pin: "bt709", tin: "linear", ...BT709 }),
  ]
}

function zscale(options: Record<string, string>): string {
  const words = Object.entries(options).map(([name, value]) => `${name}=${value}`)
  return `zscale=${words.join(":")}`
}

function zscaleMatrix(matrix: string | null): string {
  return matrix !== null && /^(?:bt709|bt470bg|smpte170m|bt2020c|ictcp)$/.test(matrix)
    ? matrix
    : "bt2020nc"
}

function likelyMatrix({ width, height }: Size): string {
  const isSmall = width <= SD_SIZE_MAX.width && height <= SD_SIZE_MAX.height
  return isSmall ? "smpte170m" : "bt709"
}

function known(value: string | null): string | null {
  return value === null || /^(?:unknown|reserved|unspecified)$/.test(value) ? null : value
}
