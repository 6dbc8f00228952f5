import { execFile } from "node:child_process"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import { parseRunnerEnvironment } from "../../container/settings.ts"

const run = promisify(execFile)
const { FFMPEG_PATH, FFPROBE_PATH } = parseRunnerEnvironment(
  Object.fromEntries(
    ["FFMPEG_PATH", "FFPROBE_PATH"].flatMap((name) =>
      process.env[name] ? [[name, process.env[name]]] : [],
    ),
  ),
)

export const MEDIA_SECONDS = 1.2

const CLIP =
  "-f lavfi -i testsrc=size=64x64:rate=10 -f lavfi -i sine=frequency=440 " +
  `-t ${MEDIA_SECONDS} -c:v libx264 -preset ultrafast -c:a aac`

const facts = z.object({
  format: z.object({ duration: z.coerce.number() }),
  streams: z.array(z.object({ codec_name: z.string() })),
})

/** Makes the video that every job works on; its path. */
export async function makeMedia(folder: string): Promise<string> {
  const path = join(folder, "clip.mp4")
  await run(FFMPEG_PATH, ["-v", "error", "-nostdin", "-y", ...CLIP.split(" "), path])
  return path
}

/** Codecs and seconds of bytes by ffprobe; null if they are no media. */
export async function probeBytes(
  bytes: Uint8Array,
  path: string,
): Promise<{ codecs: string[]; seconds: number } | null> {
  await writeFile(path, bytes)
  const words = `-v error -print_format json -show_format -show_streams ${path}`.split(" ")
  try {
    const { format, streams } = facts.parse(JSON.parse((await run(FFPROBE_PATH, words)).stdout))
    return { codecs: streams.map((stream) => stream.codec_name), seconds: format.duration }
  } catch {
    return null
  } finally {
    await rm(path)
  }
}
