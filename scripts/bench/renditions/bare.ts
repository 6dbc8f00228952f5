import { encodeArguments } from "../../../container/tasks/render/encode-arguments.ts"
import { planRenditions } from "../../../container/tasks/render/plan.ts"
import { readSource } from "../../../container/tasks/render/source.ts"
import { audioArguments } from "../../../container/tools/renditions/audio-encoder.ts"
import { videoArguments } from "../../../container/tools/renditions/video-encoder.ts"
import { probeResult } from "../../../src/contract/probe.ts"
import type { Rendition } from "../../../src/contract/tasks/render.ts"
import { parseJson } from "../../local/parse-json.ts"
import { runBare, tools } from "../media.ts"

const PROBE = "-v error -print_format json -show_format -show_streams".split(" ")
const LEADING = "-v error -nostdin -y".split(" ")

type Bare = { folder: string; source: string; renditions: readonly Rendition[] }

/** Encodes each rendition on its own, one after the other, as people do it by hand. */
export async function encodeOneByOne({ folder, source, renditions }: Bare): Promise<void> {
  const { planned, audio } = await plan({ folder, source, renditions })
  for (const { target, name } of planned) {
    const words = [
      "-i",
      source,
      "-vf",
      `scale=${target.width}:${target.height}`,
      ...videoArguments(target, { number: 2, log: "bare" }),
      ...audioArguments(target.container, audio),
      "-movflags",
      "+faststart",
      name,
    ]
    await runBare(tools.ffmpeg, [...LEADING, ...words], folder)
  }
}

/** Encodes renditions by the runner's own words. */
export async function encodeAlike(bare: Bare): Promise<void> {
  const { source, planned } = await plan(bare)
  await runBare(tools.ffmpeg, [...LEADING, ...encodeArguments(source, planned, 2)], bare.folder)
}

async function plan({ folder, source: name, renditions }: Bare) {
  const said = parseJson(await runBare(tools.ffprobe, [...PROBE, name], folder))
  const probe = probeResult.parse({ ...Object(said), format_name: "mov" })
  const source = readSource(probe, name)
  const { video, audio } = source
  if (!video || !audio) throw new Error(`${name} has no picture, or no sound`)
  const outputs = renditions.map(({ key, container }) => ({ key, name: `${key}.${container}` }))
  const planned = planRenditions(video, { renditions: [...renditions], outputs })
  return { source: { ...source, video }, audio, planned }
}
