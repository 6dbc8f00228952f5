import { AAC, picture, SD, SD_TAGS, sound, X264 } from "../picture.ts"
import { UPRIGHT } from "../shape.ts"
import type { Shape } from "../shape.ts"

const SIZE = { width: 320, height: 180 }
const SMALL = "320x180"
const SILENT = picture({ size: SMALL })
const BOTH = `${SILENT} ${sound()}`
const OLD = `${picture({ size: SMALL, pixels: SD })} ${sound()} ${SD_TAGS}`
const COVER = "-f lavfi -i color=red:s=64x64 -frames:v 1 cover.jpg"
const STALE = "-metadata title=Stale -metadata comment=Stale -metadata:s:v handler_name=Stale"
const TS = "-c:v mpeg2video -q:v 4 -c:a mp2"

const CHAPTERS = `;FFMETADATA1
[CHAPTER]
TIMEBASE=1/1000
START=0
END=1000
title=One
[CHAPTER]
TIMEBASE=1/1000
START=1000
END=2600
title=Two
`
const SUBTITLES = "1\n00:00:00,500 --> 00:00:02,000\nHello\n"
/** Of a file, so that its end is missing. */
const KEPT_SHARE = 0.6

/** Other formats, and files that hold more than a film, or less. */
export const FILE_SHAPES: Shape[] = [
  { ...of("no sound", "mp4", `${SILENT} ${X264}`), sound: null },
  mono("mono", "mp4", 48_000, AAC),
  mono("telephone audio", "mov", 8000, "-c:a pcm_mulaw"),
  of("96 kHz", "mov", `${SILENT} ${sound({ rate: 96_000 })} ${X264} -c:a pcm_s24le`),
  {
    ...of("5.1", "mp4", `${SILENT} ${sound({ channels: 6 })} ${X264} ${AAC}`),
    sound: { channels: 6 },
  },
  {
    ...of("all at once", "mkv", ""),
    texts: { "chapters.txt": CHAPTERS, "subtitles.srt": SUBTITLES },
    steps: [
      COVER,
      `${BOTH} ${sound({ clickAt: 2 })} -i subtitles.srt -i chapters.txt -map 2 -map 0 -map 1 -map 3 -map_metadata 4 -map_chapters 4 ${STALE} -disposition:a:0 0 -disposition:a:1 default -attach cover.jpg -metadata:s:t mimetype=image/jpeg ${X264} ${AAC} -c:s srt source.mkv`,
    ],
  },
  {
    ...of("a cover, chapters and a data track", "mp4", ""),
    texts: { "chapters.txt": CHAPTERS, "subtitles.srt": SUBTITLES },
    steps: [
      COVER,
      `-i cover.jpg ${BOTH} -i subtitles.srt -i chapters.txt -map 0 -map 1 -map 2 -map 3 -map_metadata 4 -map_chapters 4 ${STALE} -timecode 10:00:00:00 -c:v:0 copy -disposition:v:0 attached_pic -c:v:1 libx264 -preset ultrafast ${AAC} -c:s mov_text source.mp4`,
    ],
  },
  { ...of("sound alone", "m4a", `${sound()} ${AAC}`), fails: "no_video" },
  {
    ...of("sound with a cover", "mp3", ""),
    steps: [COVER, `-i cover.jpg ${sound()} -map 0 -map 1 -c:a mp3 -c:v copy source.mp3`],
    fails: "no_video",
  },
  still("a still picture", "png", "-frames:v 1"),
  still("a photograph", "jpg", "-frames:v 1 -pix_fmt yuvj420p"),
  { ...of("an animated GIF", "gif", picture({ size: SMALL, rate: 10 })), sound: null },
  {
    ...of("an animated PNG", "apng", `${picture({ size: SMALL, rate: 10 })} -plays 1`),
    sound: null,
  },
  of("fragments", "mp4", `${BOTH} ${X264} ${AAC} -movflags frag_keyframe+empty_moov`),
  {
    ...of("an MP4 without its end", "mp4", `${BOTH} ${X264} ${AAC} -movflags +faststart`),
    change: cut,
    seconds: 2.6 * KEPT_SHARE,
    secondsOff: 0.6,
    warnings: ["input_damaged"],
  },
  {
    ...of("a transport stream without its end", "ts", `${BOTH} ${TS}`),
    change: cut,
    seconds: 2.6 * KEPT_SHARE,
    secondsOff: 0.6,
    warnings: ["input_damaged"],
  },
  {
    ...of("a picture that changes its size", "ts", ""),
    steps: [
      `${picture({ size: "640x360", seconds: 1.4 })} ${sound({ seconds: 1.4 })} ${TS} one.ts`,
      `${picture({ size: SMALL, seconds: 1.4, flashAt: 9 })} ${sound({ seconds: 1.4, clickAt: 9 })} ${TS} -output_ts_offset 1.4 two.ts`,
      "-i concat:one.ts|two.ts -map 0 -c copy -copyts source.ts",
    ],
    shown: { width: 640, height: 360 },
    seconds: 2.8,
    secondsOff: 0.2,
  },
  old("Windows Media", "wmv", "-c:v wmv2 -b:v 1M -c:a wmav2"),
  old("Flash", "flv", "-c:v flv -q:v 3 -c:a mp3 -ar 44100"),
  old("Theora", "ogv", "-c:v libtheora -q:v 7 -c:a libvorbis"),
  old("MPEG-1", "mpg", "-c:v mpeg1video -q:v 3 -c:a mp2"),
  {
    ...old("an old phone", "3gp", "-s 352x288 -c:v h263 -q:v 3 -c:a aac -ar 8000 -ac 1"),
    shown: { width: 512, height: 288 },
    sound: { channels: 1 },
  },
  of("VP9 and Opus", "webm", `${BOTH} -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus`),
  of("AV1", "mp4", `${BOTH} -c:v libsvtav1 -preset 12 -c:a libopus`),
]

function of(name: string, extension: string, words: string): Shape {
  const file = `source.${extension}`
  return {
    name,
    file,
    steps: [`${words} ${file}`],
    shown: SIZE,
    seconds: 2.6,
    sound: { channels: 2 },
    corners: UPRIGHT,
  }
}

function old(name: string, extension: string, words: string): Shape {
  return { ...of(name, extension, `${OLD} ${words}`), secondsOff: 0.2 }
}

function mono(name: string, extension: string, rate: number, words: string): Shape {
  const input = `${SILENT} ${sound({ channels: 1, rate })}`
  return { ...of(name, extension, `${input} ${X264} ${words}`), sound: { channels: 1 } }
}

function still(name: string, extension: string, words: string): Shape {
  const made = of(name, extension, `${picture({ size: SMALL, rate: 25 })} ${words}`)
  return { ...made, seconds: 0.04, sound: null, flashes: false }
}

/** The beginning of a file, as after a transfer that ended early. */
function cut(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.slice(0, Math.round(bytes.length * KEPT_SHARE))
}
