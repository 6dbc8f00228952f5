import type { PixelSize } from "./geometry.ts"

/**
 * Colour properties of a video stream, by ffmpeg's names. A property that the stream does not
 * define is null or "unknown".
 */
export type StreamColours = {
  range: string | null
  matrix: string | null
  transfer: string | null
  primaries: string | null
}

/** Conversion of the colours of a picture to BT.709 with 8 bits. */
export type ColourConversion =
  /**
   * Conversion for usual colours, which changes only the matrix between RGB and YUV. `from` is the
   * matrix of the source, or null for an RGB picture. `primaries` are the primaries that the output
   * declares.
   */
  | { type: "matrix"; from: string | null; primaries: string }
  /**
   * Conversion by `filters`, for pictures with colours that BT.709 cannot represent, such as HDR.
   */
  | { type: "gamut"; filters: readonly string[] }

const HDR_TRANSFERS = new Set(["smpte2084", "arib-std-b67"])
/** Transfer functions that differ visibly from the transfer function of BT.709. */
const KNOWN_TRANSFERS = new Set([...HDR_TRANSFERS, "iec61966-2-1"])
const WIDE_PRIMARIES = new Set(["bt2020", "smpte431", "smpte432"])
const WIDE_MATRICES = new Set(["bt2020nc", "bt2020c", "ictcp"])
/**
 * Colour primaries of SD video. These primaries are so close to BT.709 that a rendition (encoded
 * output) keeps them and declares them in its colour tags.
 */
const SD_PRIMARIES = new Set(["smpte170m", "bt470bg", "smpte240m"])
/** Names of colour matrices in the filter `scale`, by the names that ffmpeg uses in streams. */
const SCALE_MATRICES: Record<string, string> = {
  bt709: "bt709",
  smpte170m: "smpte170m",
  bt470bg: "bt470",
  fcc: "fcc",
  smpte240m: "smpte240m",
}
/**
 * Maximum size of a picture that is assumed to have SD colours if it has no colour properties. A
 * larger picture is assumed to have HD colours.
 */
const SD_SIZE_MAX: PixelSize = { width: 1024, height: 576 }
const RGB = /^(?:(?:0|x2)?(?:rgb|bgr)|gbr|argb|abgr|pal8|bayer)/

/** Reports whether a pixel format stores RGB, so that no colour matrix applies. */
export function isRgbPixelFormat(pixelFormat: string): boolean {
  return RGB.test(pixelFormat)
}

/** Chooses the conversion of the colours of a picture to BT.709. */
export function planColourConversion(picture: {
  pixelFormat: string
  size: PixelSize
  colour: StreamColours
}): ColourConversion {
  const { pixelFormat, size, colour } = picture
  const transfer = knownOrNull(colour.transfer)
  const primaries = knownOrNull(colour.primaries)
  const matrix = isRgbPixelFormat(pixelFormat) ? null : knownOrNull(colour.matrix)
  const isHdr = transfer !== null && HDR_TRANSFERS.has(transfer)
  const isWide = WIDE_PRIMARIES.has(primaries ?? "") || WIDE_MATRICES.has(matrix ?? "")
  if (isHdr || isWide) {
    const from = {
      min: isRgbPixelFormat(pixelFormat) ? "gbr" : zscaleMatrix(matrix),
      tin: transfer !== null && KNOWN_TRANSFERS.has(transfer) ? transfer : "bt709",
      pin: primaries ?? "bt2020",
      rin: colour.range === "pc" || isRgbPixelFormat(pixelFormat) ? "pc" : "tv",
    }
    return { type: "gamut", filters: isHdr ? toneMap(from) : [zscale({ ...from, ...BT709 })] }
  }
  return {
    type: "matrix",
    from: isRgbPixelFormat(pixelFormat)
      ? null
      : (SCALE_MATRICES[matrix ?? ""] ?? likelyMatrix(size)),
    primaries: primaries !== null && SD_PRIMARIES.has(primaries) ? primaries : "bt709",
  }
}

const BT709 = { p: "bt709", t: "bt709", m: "bt709", r: "tv" }

/** Returns filters that map HDR colours to SDR for a screen of 100 nits, as common players do. */
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

function likelyMatrix({ width, height }: PixelSize): string {
  const isSmall = width <= SD_SIZE_MAX.width && height <= SD_SIZE_MAX.height
  return isSmall ? "smpte170m" : "bt709"
}

function knownOrNull(value: string | null): string | null {
  return value === null || /^(?:unknown|reserved|unspecified)$/.test(value) ? null : value
}
