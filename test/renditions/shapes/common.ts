import { AAC, picture, PLAIN_X264, SD, SD_TAGS, sound, X264 } from "../picture.ts"
import { turned, UPRIGHT } from "../shape.ts"
import type { Shape } from "../shape.ts"
import { turnMovie } from "../turn-movie.ts"

const STEREO = { channels: 2 }

/** Common sources, and pictures that are wide, narrow, small or large. */
export const COMMON_SHAPES: Shape[] = [
  simple("plain 16:9", "1280x720", { rate: 12 }),
  simple("portrait", "406x720", { rate: 12 }),
  simple("square", "480x480", {}),
  simple("ultra-wide", "1434x600", { rate: 10 }),
  simple("1080p", "1920x1080", { rate: 6 }),
  simple("odd sides", "101x57", {}, "-c:v ffv1 -c:a flac", "mkv"),
  {
    ...simple("odd sides of 4:2:0", "321x181", { pixels: SD }, "-c:v mpeg4 -q:v 3 -c:a mp3", "avi"),
  },
  { ...simple("tiny", "16x16", {}), corners: null },
  { ...simple("a strip", "640x16", {}, `-c:v ffv1 ${AAC}`, "mkv"), corners: null },
  simple("narrow", "90x1280", { rate: 10 }),
  simple("4K", "3840x2160", { rate: 4, seconds: 2.5 }),
  simple("120 frames a second", "320x180", { rate: 120 }),
  simple("NTSC's rate", "320x180", { rate: 30_000 / 1001 }, `-r 30000/1001 ${X264} ${AAC}`),
  { ...simple("a slide a second", "640x360", { rate: 1, seconds: 5 }), seconds: 5 },
  {
    ...simple("a slide each four seconds", "320x180", { rate: 0.25, seconds: 12, flashAt: 4 }),
    seconds: 12,
  },
  stretched("PAL 4:3", "720x576", "16/15", 768),
  stretched("PAL 16:9", "720x576", "64/45", 1024),
  { ...stretched("NTSC 4:3", "720x480", "8/9", 640), shown: { width: 640, height: 480 } },
  phone("rotated by 90", 1),
  phone("rotated by 180", 2),
  phone("rotated by 270", 3),
  simple("HD without color tags", "1280x720", { rate: 6 }, `${PLAIN_X264} ${AAC}`),
  simple("SD without color tags", "640x480", { pixels: SD }, `${PLAIN_X264} ${AAC}`),
]

function simple(
  name: string,
  size: string,
  more: { rate?: number; seconds?: number; flashAt?: number; pixels?: string },
  words = `${X264} ${AAC}`,
  extension = "mp4",
): Shape {
  const [width = 0, height = 0] = size.split("x").map(Number)
  const seconds = more.seconds ?? 2.6
  const { flashAt } = more
  const click = flashAt === undefined ? {} : { clickAt: flashAt }
  const file = `source.${extension}`
  return {
    name,
    file,
    steps: [`${picture({ size, ...more })} ${sound({ seconds, ...click })} ${words} ${file}`],
    shown: { width, height },
    seconds,
    sound: STEREO,
    corners: UPRIGHT,
  }
}

function stretched(name: string, size: string, sar: string, width: number): Shape {
  const height = Number(size.split("x")[1])
  const words = `-vf setsar=${sar} -c:v mpeg2video -q:v 3 ${SD_TAGS} -c:a mp2`
  const made = simple(name, size, { pixels: SD }, words, "mpg")
  return { ...made, shown: { width, height }, secondsOff: 0.2 }
}

function phone(name: string, quarters: 1 | 2 | 3): Shape {
  const made = simple(name, "720x400", { rate: 12 })
  const shown = quarters === 2 ? made.shown : { width: 400, height: 720 }
  return { ...made, shown, corners: turned(quarters), change: turnMovie(quarters) }
}
