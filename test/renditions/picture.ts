/** When the picture turns white and the click is heard, in seconds. */
export const FLASH_AT = 1

const FLASH_SECONDS = 0.2
const RATE = 25
const SECONDS = 2.6

type Picture = {
  size: string
  rate?: number
  seconds?: number
  flashAt?: number
  /** The last words of the chain, which make its pixels from RGB. */
  pixels?: string
}

/** Turns RGB into what most video is. */
export const SDR =
  "scale=out_color_matrix=bt709:out_range=limited,format=yuv420p,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=limited"
/** The same in all values, as JPEG has it. */
export const FULL_RANGE =
  "scale=out_color_matrix=bt709:out_range=full,format=yuv420p,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=full"

/** Turns RGB into what was common before HD. */
export const SD =
  "scale=out_color_matrix=smpte170m:out_range=limited,format=yuv420p,setparams=colorspace=smpte170m:color_primaries=smpte170m:color_trc=smpte170m:range=limited"

/** A picture that moves, with a color in each corner; it turns white for a moment. As an input. */
export function picture(of: Picture): string {
  return `-f lavfi -i ${pictureChain(of)}`
}

/** The chain of filters of a picture. */
export function pictureChain({
  size,
  rate = RATE,
  seconds = SECONDS,
  flashAt = FLASH_AT,
  pixels = SDR,
}: Picture): string {
  const until = flashAt + Math.max(FLASH_SECONDS, 1 / rate)
  const corners = [
    ["0", "0", "red"],
    ["iw*3/4", "0", "lime"],
    ["0", "ih*3/4", "blue"],
    ["iw*3/4", "ih*3/4", "gray"],
  ]
  const boxes = corners.map(([x, y, color]) => `drawbox=${x}:${y}:iw/4+1:ih/4+1:${color}:fill`)
  const flash = `drawbox=0:0:iw:ih:white:fill:enable='gte(t,${flashAt - EARLY})*lt(t,${until - EARLY})'`
  const source = `testsrc2=s=${size}:r=${rate}:d=${seconds}`
  return [source, ...boxes, flash, "format=gbrp", pixels].join(",")
}

/** Less than a frame, since times are no exact fractions. */
const EARLY = 0.001

/** A quiet tone with a click, as an input. */
export function sound(
  of: { seconds?: number; clickAt?: number; rate?: number; channels?: number } = {},
): string {
  const { seconds = SECONDS, clickAt = FLASH_AT, rate = 48_000, channels = 2 } = of
  const click = `between(t,${clickAt},${clickAt + FLASH_SECONDS})`
  const wave = `0.004*sin(2*PI*330*t)+0.7*sin(2*PI*1000*t)*${click}`
  const waves = Array.from({ length: channels }, () => wave).join("|")
  const layout = channels === SURROUND ? ":c=5.1" : ""
  return `-f lavfi -i aevalsrc='${waves}':s=${rate}:d=${seconds}${layout}`
}

const SURROUND = 6

/** Says in a file that its colors are those of HD. */
export const HD_TAGS = "-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv"
/** The same of what was common before. */
export const SD_TAGS =
  "-colorspace smpte170m -color_primaries smpte170m -color_trc smpte170m -color_range tv"

/** H.264 that says nothing of its colors. */
export const PLAIN_X264 = "-c:v libx264 -preset ultrafast -g 12"
export const X264 = `${PLAIN_X264} ${HD_TAGS}`
export const AAC = "-c:a aac -b:a 96k"
