import { execFile } from "node:child_process"
import { rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import pMap from "p-map"
import { listComponentNames } from "./differences.ts"

const SECONDS_MAX = 20
const PICTURES = "-f lavfi -i testsrc2=size=352x288:rate=25:duration=0.4".split(" ")
const SOUND = "-f lavfi -i sine=frequency=440:sample_rate=48000:duration=0.4".split(" ")

/** Container formats with which each encoder is tried, because no format supports all codecs. */
const CONTAINERS = ["nut", "mkv", "mov", "avi", "ts", "ass"]

/**
 * Sizes, sample rates and formats to try in order, because some encoders accept only a few of them.
 */
const SHAPES = {
  V: ["", "-s 128x96", "-s 720x576 -pix_fmt yuv422p", "-s 1920x1080 -b:v 120M -pix_fmt yuv422p"],
  A: ["", "-ar 8000 -ac 1", "-ar 44100 -ac 2", "-ar 8000 -ac 1 -b:a 6400"],
  S: [""],
} as const
type Kind = keyof typeof SHAPES

const SUBTITLES = "1\n00:00:00,100 --> 00:00:00,300\nOne line\n"
const CHAPTERS =
  ";FFMETADATA1\ntitle=Both\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=200\ntitle=First\n"

/** Videos with several streams and chapters, by name, with the options of their codecs. */
const FILMS = {
  "film.mp4": "-c:v libx264 -c:a aac -c:s mov_text",
  "film.mkv": "-c:v libx265 -pix_fmt yuv420p10le -color_trc smpte2084 -c:a libopus -c:s ass",
  "film.webm": "-c:v libvpx-vp9 -c:a libvorbis -c:s webvtt",
  "film-av1.mp4": "-c:v libsvtav1 -c:a ac3 -c:s mov_text",
  "film.mov": "-c:v prores_ks -c:a pcm_s24le -c:s mov_text",
}

/**
 * Makes a small file with each encoder and each muxer of an ffmpeg that works without further
 * options, and videos with several streams and chapters. Returns the paths of the files.
 */
export async function makeSampleMediaFiles(ffmpeg: string, folder: string): Promise<string[]> {
  const subtitles = join(folder, "subtitles.srt")
  const chapters = join(folder, "chapters.txt")
  await writeFile(subtitles, SUBTITLES)
  await writeFile(chapters, CHAPTERS)
  const inputs = { V: PICTURES, A: SOUND, S: ["-i", subtitles] }
  const all = [...PICTURES, ...SOUND, "-i", subtitles, "-i", chapters, "-map_metadata", "3"]
  const streams = ["0", "1", "2"].flatMap((input) => ["-map", input])
  const tries = [
    ...(await listEncoders(ffmpeg)).map(({ name, kind }) => {
      const common = [...inputs[kind], "-strict", "experimental", `-c:${kind.toLowerCase()}`, name]
      return SHAPES[kind].flatMap((shape) =>
        CONTAINERS.map((container) => [...common, ...words(shape), `encoder-${name}.${container}`]),
      )
    }),
    ...(await listComponentNames(ffmpeg, "muxers")).map((name) => {
      return [[...PICTURES, ...SOUND, "-f", name, `muxer-${name}`]]
    }),
    ...Object.entries(FILMS).map(([name, codecs]) => [
      [...all, ...streams, ...words(codecs), name],
    ]),
  ]
  const paths = await pMap(tries, async (each) => await writeFirst(ffmpeg, folder, each), {
    concurrency: 2,
  })
  return paths.filter((path) => path !== null)
}

/**
 * Runs command lines in order until ffmpeg writes a file, whose name is the last argument. Returns
 * the path of the file, or null if all command lines fail.
 */
async function writeFirst(
  ffmpeg: string,
  folder: string,
  tries: string[][],
): Promise<string | null> {
  for (const each of tries) {
    const path = join(folder, each.at(-1) ?? "")
    const options = { timeout: SECONDS_MAX * 1000, env: { ...process.env, SVT_LOG: "0" } }
    const common = ["-nostdin", "-v", "quiet", "-y"]
    try {
      await promisify(execFile)(ffmpeg, [...common, ...each.slice(0, -1), path], options)
      if ((await stat(path)).size > 0) return path
    } catch {
      await rm(path, { force: true })
    }
  }
  return null
}

async function listEncoders(ffmpeg: string): Promise<{ name: string; kind: Kind }[]> {
  const { stdout } = await promisify(execFile)(ffmpeg, ["-hide_banner", "-encoders"])
  const kinds = ["V", "A", "S"] as const
  return kinds.flatMap((kind) => {
    const lines = stdout.matchAll(new RegExp(String.raw`^ ${kind}[A-Z.]{5} (?!=)(\S+)`, "gm"))
    return [...lines].map(([, name = ""]) => ({ name, kind }))
  })
}

function words(text: string): string[] {
  return text === "" ? [] : text.split(" ")
}
