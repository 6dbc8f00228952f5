import { AAC, FULL_RANGE, HD_TAGS, picture, pictureChain, SD, SD_TAGS, sound } from "../picture.ts"
import { UPRIGHT } from "../shape.ts"
import type { Shape } from "../shape.ts"

const SIZE = { width: 320, height: 180 }
/** The words before a format of pixels that RGB is turned into. */
const HD = "scale=out_color_matrix=bt709:out_range=limited,format="
/** The same where what lies between the corners is seen through. */
const FADED = `format=gbrap,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(between(X,W/3,W*2/3),90,255)',${HD}`
const X264 = "-c:v libx264 -preset ultrafast -g 12"
const X265 = "-c:v libx265 -preset ultrafast -x265-params log-level=error"
const VP8_ALPHA =
  "-c:v libvpx -b:v 1M -deadline realtime -cpu-used 8 -auto-alt-ref 0 -c:a libvorbis"
const FIELDS = "-flags +ildct+ilme"
const MPEG2 = `-c:v mpeg2video -q:v 3 ${FIELDS} -c:a mp2`

/** Pixels and colors that few players take as they are. */
export const PIXEL_SHAPES: Shape[] = [
  hdr("HDR10", "smpte2084", ":hdr10=1:max-cll=1000,400"),
  hdr("HLG", "arib-std-b67", ""),
  of("10 bits", "mp4", `${HD}yuv420p10le`, `${X265} ${HD_TAGS} ${AAC}`),
  of("ProRes 4:2:2", "mov", `${HD}yuv422p10le`, `-c:v prores_ks -profile:v 3 ${HD_TAGS}`),
  of("4:4:4", "mp4", `${HD}yuv444p`, `${X264} ${HD_TAGS} ${AAC}`),
  of("DNxHR", "mov", `${HD}yuv422p`, `-c:v dnxhd -profile:v dnxhr_sq ${HD_TAGS}`),
  of("full range", "mp4", FULL_RANGE, `${X264} ${HD_TAGS} -color_range pc ${AAC}`),
  of("Motion JPEG", "avi", "format=yuvj420p", "-c:v mjpeg -q:v 3 -c:a pcm_s16le"),
  of("RGB of QuickTime", "mov", "format=rgb24", "-c:v qtrle"),
  of("RGB of FFV1", "mkv", "format=gbrp", "-c:v ffv1 -c:a flac"),
  of("deep RGB", "mkv", "format=gbrp10le", "-c:v ffv1 -c:a flac"),
  { ...of("gray", "mkv", "format=gray", "-c:v ffv1 -c:a flac"), corners: null },
  of("alpha of ProRes", "mov", `${FADED}yuva444p10le`, `-c:v prores_ks -profile:v 4 ${HD_TAGS}`),
  of("alpha of VP8", "webm", `${FADED}yuva420p`, `${VP8_ALPHA} ${HD_TAGS}`),
  fields("top field first", "tff", MPEG2, "ts"),
  fields("bottom field first", "bff", `-c:v mpeg4 -q:v 2 ${FIELDS} ${AAC}`, "mov"),
  fields("DV", "bff", "-c:v dvvideo -ar 48000", "dv"),
  fields("H.264 of fields", "tff", `${X264} -x264-params tff=1 ${AAC}`, "mkv"),
  {
    ...fields("fields without a tag", "tff", `${X264} ${AAC}`, "mp4", "setfield=prog"),
    isInterlaced: false,
  },
]

function of(name: string, extension: string, pixels: string, words: string): Shape {
  const file = `source.${extension}`
  const size = `${SIZE.width}x${SIZE.height}`
  return {
    name,
    file,
    steps: [`${picture({ size, pixels })} ${sound()} ${words} ${file}`],
    shown: SIZE,
    seconds: 2.6,
    rate: "25/1",
    sound: { channels: 2 },
    corners: UPRIGHT,
  }
}

/**
 * Light of a screen as HDR has it, where white is as bright as paper; other brightness may come of
 * it.
 */
function hdr(name: string, transfer: string, parameters: string): Shape {
  const light =
    "zscale=pin=bt709:tin=bt709:min=gbr:rin=full:npl=203" +
    `:p=bt2020:t=${transfer}:m=bt2020nc:r=limited,format=yuv420p10le`
  const colors = `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc:range=limited`
  const tags = `-color_primaries bt2020 -color_trc ${transfer} -colorspace bt2020nc -color_range tv`
  const made = of(name, "mp4", light, `${X265}:${colors}${parameters} ${tags} ${AAC}`)
  return { ...made, colorOff: 90 }
}

/** Frames of two fields, of a picture that moves between them. */
function fields(
  name: string,
  order: "tff" | "bff",
  words: string,
  extension: string,
  last = `setfield=${order}`,
): Shape {
  const file = `source.${extension}`
  const scan = `interlace=scan=${order}:lowpass=off`
  const chain = `${pictureChain({ size: "720x576", rate: 50, pixels: SD })},${scan},setsar=16/15,${last}`
  return {
    name,
    file,
    steps: [`-f lavfi -i ${chain} ${sound()} ${SD_TAGS} ${words} ${file}`],
    shown: { width: 768, height: 576 },
    seconds: 2.6,
    secondsOff: 0.2,
    sound: { channels: 2 },
    corners: UPRIGHT,
    isInterlaced: true,
  }
}
