import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { listComponentNames } from "../../../scripts/ffmpeg/differences.ts"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { detectFfmpegBuild } from "../../support/media/ffmpeg-builds.ts"

const run = promisify(execFile)
const { ffmpeg, ffprobe } = findMediaTools()
const LACK = detectFfmpegBuild(ffmpeg).isOwn ? "" : ": another is used here"

const PICTURES = "-f lavfi -i testsrc2=size=352x288:rate=25:duration=0.4"
const SOUND = "-f lavfi -i sine=frequency=440:duration=0.4"
const BOTH = `${PICTURES} ${SOUND}`

/** Commands that write the file which they are named by. */
const FILES = {
  "film.mp4": `${BOTH} -c:v libx264 -c:a aac`,
  "hdr.mkv": `${BOTH} -c:v libx265 -pix_fmt yuv420p10le -c:a libopus -ac 2`,
  "film.webm": `${BOTH} -c:v libvpx-vp9 -c:a libvorbis`,
  "av1.mp4": `${BOTH} -c:v libsvtav1 -c:a ac3 -ac 2`,
  "aom.mkv": `${PICTURES} -s 64x64 -c:v libaom-av1 -cpu-used 8 -pix_fmt yuv444p`,
  "studio.mov": `${BOTH} -c:v prores_ks -c:a pcm_s24le`,
  "theora.ogg": `${BOTH} -c:v libtheora -c:a libvorbis`,
  "broadcast.ts": `${BOTH} -c:v mpeg2video -c:a mp2`,
  "old.avi": `${BOTH} -c:v mpeg4 -c:a libmp3lame`,
  "song.mp3": `${SOUND} -c:a libmp3lame`,
  "song.flac": SOUND,
  "speech.spx": `${SOUND} -ar 16000 -c:a libspeex`,
  "call.gsm": `${SOUND} -ar 8000 -ac 1`,
  "still.png": `${PICTURES} -frames:v 1 -pix_fmt rgba`,
  "still.webp": `${PICTURES} -frames:v 1`,
  "still.jp2": `${PICTURES} -frames:v 1`,
  "still.tiff": `${PICTURES} -frames:v 1 -compression_algo deflate`,
  "loop.gif": PICTURES,
} as const

const printed = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string(),
      codec_name: z.string(),
      profile: z.string().optional(),
      pix_fmt: z.string().optional(),
      width: z.number().optional(),
      height: z.number().optional(),
      sample_fmt: z.string().optional(),
      sample_rate: z.string().optional(),
    }),
  ),
})
type Stream = z.infer<typeof printed>["streams"][number]

describe.skipIf(LACK !== "")(`ffprobe of the project's own${LACK}`, () => {
  test("reads the formats of its ffmpeg, except those that only a library decodes", async () => {
    expect(await lackedNames("demuxers")).toEqual(["lavfi"])
    expect([await lackedNames("bsfs"), await lackedNames("protocols")]).toEqual([[], []])
    const decoders = await lackedNames("decoders")
    expect(decoders.length).toBeGreaterThan(0)
    expect(decoders.filter((name) => !name.startsWith("lib"))).toEqual([])
    expect(decoders).not.toContain("libdav1d")
  })

  test("has no encoders, muxers or filters", async () => {
    expect(await listComponentNames(ffprobe, "encoders")).toEqual([])
    expect(await listComponentNames(ffprobe, "muxers")).toEqual([])
    expect(await listComponentNames(ffprobe, "filters")).toEqual([])
  })

  test.each(Object.entries(FILES))("describes %s like ffmpeg", async (name, command) => {
    await using folder = await makeTempFolder("own-ffprobe")
    const path = join(folder.path, name)
    const env = { ...process.env, SVT_LOG: "0" }
    await run(ffmpeg, ["-nostdin", "-v", "error", ...command.split(" "), path], { env })
    const { stdout } = await run(ffprobe, words("-v error -of json -show_streams -i", path))
    const { streams } = printed.parse(JSON.parse(stdout))
    const lines = await describeByFfmpeg(path)
    expect(streams.length).toBeGreaterThan(0)
    expect(lines).toHaveLength(streams.length)
    for (const [index, stream] of streams.entries()) {
      for (const part of partsOf(stream)) expect(lines[index]).toContain(part)
    }
  })
})

async function lackedNames(
  kind: "decoders" | "demuxers" | "bsfs" | "protocols",
): Promise<string[]> {
  const there = new Set(await listComponentNames(ffprobe, kind))
  return (await listComponentNames(ffmpeg, kind)).filter((name) => !there.has(name))
}

/** Lines of ffmpeg's own description of a file's streams. */
async function describeByFfmpeg(path: string): Promise<string[]> {
  const { stderr } = await run(
    ffmpeg,
    words("-nostdin -hide_banner -i", path, "-f", "null", "-t", "0", "-"),
  )
  const input = stderr.slice(0, stderr.indexOf("Stream mapping"))
  return input.split("\n").filter((line) => /^ +Stream #0:/.test(line))
}

/** Parts of ffprobe's facts in such a line; a profile without a name is a number. */
function partsOf(stream: Stream): string[] {
  const { codec_name: codec, profile = "0", pix_fmt: pixels, width, height } = stream
  const profiles = Number.isNaN(Number(profile)) ? [` (${profile})`] : []
  if (stream.codec_type === "video") {
    return [`Video: ${codec}`, ...profiles, `, ${pixels}`, `, ${width}x${height}`]
  }
  const sound = [`, ${stream.sample_rate} Hz`, `, ${stream.sample_fmt}`]
  return [`Audio: ${codec}`, ...profiles, ...sound]
}

function words(text: string, ...more: string[]): string[] {
  return [...text.split(" "), ...more]
}
