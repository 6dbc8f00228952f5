import { AAC, picture, pictureChain, sound, X264 } from "../picture.ts"
import { UPRIGHT } from "../shape.ts"
import type { Shape } from "../shape.ts"

const SIZE = { width: 320, height: 180 }
const SMALL = "320x180"
const BOTH = `${picture({ size: SMALL })} ${sound()}`
const TS = "-c:v mpeg2video -q:v 4 -g 12 -c:a mp2"
/** Frames that come now and then, as a screen is captured. */
const UNEVEN = "select='not(mod(n\\,7))+lt(mod(n\\,20)\\,6)',setpts=PTS+0.009*sin(N*7)/TB"
const OPEN = "-c:v libx264 -preset veryfast -x264-params open-gop=1:keyint=12:bframes=3 -c:a aac"
const TEN_HOURS = 36_000
const GAP = 3

/** Times that are not even, do not begin at zero, or are missing. */
export const TIME_SHAPES: Shape[] = [
  of("uneven frames of MP4", "mp4", uneven(`${X264} ${AAC}`)),
  of("uneven frames of Matroska", "mkv", uneven(`${X264} ${AAC}`)),
  of(
    "a screen's capture",
    "webm",
    uneven("-c:v libvpx -deadline realtime -cpu-used 8 -c:a libopus"),
  ),
  {
    ...of("a still screen", "webm", [
      `-f lavfi -i ${pictureChain({ size: SMALL, seconds: 6, flashAt: 4 })},select='lt(n\\,3)+eq(n\\,100)+eq(n\\,149)' ${sound({ seconds: 6, clickAt: 4 })} -fps_mode vfr -c:v libvpx -deadline realtime -c:a libopus source.webm`,
    ]),
    seconds: 6,
  },
  of("two frame rates", "mp4", [
    `-f lavfi -i ${pictureChain({ size: SMALL, rate: 50 })},select='lt(t\\,1.3)+not(mod(n\\,5))' ${sound()} -fps_mode vfr ${X264} ${AAC} source.mp4`,
  ]),
  of("ten hours in", "ts", [`${BOTH} ${TS} -output_ts_offset ${TEN_HOURS} source.ts`]),
  of("no length", "mkv", [`${BOTH} ${X264} ${AAC} -live 1 source.mkv`]),
  {
    ...of("a gap", "mkv", [
      `-f lavfi -i ${pictureChain({ size: SMALL, seconds: 3, flashAt: 2 })},setpts='PTS+gte(T\\,1.5)*${GAP}/TB' -f lavfi -i ${soundChain(3, 2)},asetpts='PTS+gte(T\\,1.5)*${GAP}/TB' -fps_mode passthrough ${X264} ${AAC} source.mkv`,
    ]),
    seconds: 3 + GAP,
  },
  // Players do not show frames before zero.
  {
    ...of("times below zero", "mp4", [
      `${BOTH} ${X264} ${AAC} -avoid_negative_ts disabled -output_ts_offset -0.4 source.mp4`,
    ]),
    seconds: 2.2,
  },
  of("audio with a late start", "mp4", [
    `${picture({ size: SMALL })} -itsoffset 0.5 ${sound({ seconds: 2.1, clickAt: 0.5 })} ${X264} ${AAC} source.mp4`,
  ]),
  of("a picture with a late start", "mp4", [
    `-itsoffset 0.5 ${picture({ size: SMALL, seconds: 2.1, flashAt: 0.5 })} ${sound()} ${X264} ${AAC} source.mp4`,
  ]),
  of("a video stream with a late start", "ts", [
    `-itsoffset 0.5 ${picture({ size: SMALL, seconds: 2.1, flashAt: 0.5 })} ${sound()} ${TS} source.ts`,
  ]),
  {
    ...of("longer audio", "mp4", [
      `${picture({ size: SMALL })} ${sound({ seconds: 4 })} ${X264} ${AAC} source.mp4`,
    ]),
    seconds: 4,
  },
  of("shorter audio", "mp4", [
    `${picture({ size: SMALL })} ${sound({ seconds: 1.5 })} ${X264} ${AAC} source.mp4`,
  ]),
  {
    ...of("cut by an edit list", "mp4", [
      `${picture({ size: SMALL })} ${sound()} ${X264} ${AAC} whole.mp4`,
      "-ss 0.7 -i whole.mp4 -c copy source.mp4",
    ]),
    seconds: 1.9,
    secondsOff: 0.15,
  },
  of("open groups of pictures", "mp4", [`${BOTH} ${OPEN} source.mp4`]),
  {
    ...of("a start in the middle", "ts", [
      `${picture({ size: SMALL, flashAt: 2, seconds: 4 })} ${sound({ clickAt: 2, seconds: 4 })} ${OPEN} whole.ts`,
      "-i whole.ts -c copy -copyts -bsf:v noise=drop='lt(n\\,17)' source.ts",
    ]),
    seconds: 3.5,
    secondsOff: 0.7,
  },
]

function uneven(words: string) {
  return (file: string): string[] => [
    `-f lavfi -i ${pictureChain({ size: SMALL, rate: 60 })},${UNEVEN} ${sound()} -fps_mode vfr ${words} ${file}`,
  ]
}

function soundChain(seconds: number, clickAt: number): string {
  return sound({ seconds, clickAt }).replace("-f lavfi -i ", "")
}

function of(
  name: string,
  extension: string,
  steps: readonly string[] | ((file: string) => string[]),
): Shape {
  const file = `source.${extension}`
  return {
    name,
    file,
    steps: typeof steps === "function" ? steps(file) : steps,
    shown: SIZE,
    seconds: 2.6,
    sound: { channels: 2 },
    corners: UPRIGHT,
  }
}
