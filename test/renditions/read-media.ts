import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { buffer, text } from "node:stream/consumers"
import { promisify } from "node:util"
import { z } from "zod"
import { serviceToolPaths } from "../../scripts/cli/client/media.ts"

const seconds = z.coerce.number()

const probed = z.object({
  streams: z.array(
    z.looseObject({
      codec_type: z.string(),
      codec_name: z.string().optional(),
      start_time: seconds.optional().catch(undefined),
      channels: z.number().optional(),
      avg_frame_rate: z.string(),
      side_data_list: z.array(z.looseObject({ side_data_type: z.string() })).default([]),
      tags: z.record(z.string(), z.string()).default({}),
    }),
  ),
  packets: z.array(
    z.object({ stream_index: z.number(), pts_time: seconds, flags: z.string().default("") }),
  ),
  chapters: z.array(z.unknown()),
  format: z.looseObject({
    duration: seconds,
    start_time: seconds,
    tags: z.record(z.string(), z.string()).default({}),
  }),
})

export type Probed = z.infer<typeof probed>

const PROBE = "-v error -show_format -show_streams -show_chapters -show_packets -of json".split(" ")
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Probe of a file and of each of its packets. */
export async function probeAll(path: string): Promise<Probed> {
  const options = { maxBuffer: OUTPUT_BYTES_MAX }
  const { stdout } = await promisify(execFile)(serviceToolPaths.ffprobe, [...PROBE, path], options)
  return probed.parse(JSON.parse(stdout))
}

/** Sides of the small pictures that decoded frames are looked at in, and bytes of each. */
export const GRID = 8
const FRAME_BYTES = GRID * GRID * 3
/** Samples a second of the sound that is looked at. */
export const SOUND_RATE = 8000

/** A file that was decoded whole: frames as small pictures in RGB, samples, and all complaints. */
export type Decoded = {
  frames: Uint8Array[]
  samples: Int16Array
  complaints: string
  exitCode: number | null
}

/** Decodes every picture and all sound of a file. */
export async function decodeWhole(path: string, hasSound: boolean): Promise<Decoded> {
  const video = `-map 0:v:0 -vf scale=${GRID}:${GRID}:flags=area,setsar=1,format=rgb24 -fps_mode passthrough -f rawvideo pipe:1`
  const audio = `-map 0:a:0 -af aresample=${SOUND_RATE}:async=1:first_pts=0 -ac 1 -f s16le pipe:3`
  const line = `-v warning -nostdin -xerror -copyts -i ${path} ${video} ${hasSound ? audio : ""}`
  const child = spawn(serviceToolPaths.ffmpeg, line.trim().split(" "), {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  })
  const [, stdout, stderr, sound] = child.stdio
  if (!stdout || !stderr || !sound || !("readable" in sound)) throw new Error("no pipes")
  const [frames, complaints, pcm] = await Promise.all([
    buffer(stdout),
    text(stderr),
    buffer(sound),
    once(child, "close"),
  ])
  return {
    frames: Array.from({ length: Math.floor(frames.length / FRAME_BYTES) }, (_, index) =>
      frames.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES),
    ),
    samples: new Int16Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + (pcm.length & ~1))),
    complaints,
    exitCode: child.exitCode,
  }
}
