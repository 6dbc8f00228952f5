import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { passesOf, videoArguments } from "../../../container/tools/renditions/video-encoder.ts"
import type { VideoTarget } from "../../../container/tools/renditions/video-encoder.ts"
import { RENDITION_CODECS } from "../../../src/contract/tasks/render.ts"
import { formatRatio } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { makeMedia, runBare, tools } from "../media.ts"
import type { BenchScope } from "../scope.ts"
import { drawStill } from "./still.ts"

const SECONDS = 20
const RATE = 25
const GOAL = 0.1
const STILL = { width: 4800, height: 2700 }
const CASES = [
  { width: 854, height: 480, rates: [150, 1000] },
  { width: 1280, height: 720, rates: [3000] },
]

/** The mean rate of a stream over its file, beside the rate that was asked for. */
export async function benchBitrate(scope: BenchScope): Promise<Figure[]> {
  const folder = await scope.makeFolder()
  await writeFile(join(folder, "still.ppm"), drawStill(STILL.width, STILL.height))
  const figures: Figure[] = []
  // One at a time, since each uses all cores.
  for (const { width, height, rates } of CASES) {
    const source = await makeMedia(folder, `${height}.mkv`, shots(width, height, folder))
    for (const codec of RENDITION_CODECS) {
      for (const bitrateKbps of rates) {
        const frameRate = { frames: RATE, seconds: 1 }
        const target = { codec, container: "mp4", width, height, frameRate, bitrateKbps } as const
        figures.push(await measureRate(target, source, folder))
      }
    }
  }
  return figures
}

async function measureRate(
  target: VideoTarget & { bitrateKbps: number },
  source: string,
  folder: string,
): Promise<Figure> {
  const passes = passesOf(target)
  for (const number of passes === 2 ? ([1, 2] as const) : ([1] as const)) {
    const words = videoArguments(target, { number, log: "passes" })
    const output = number === passes ? ["made.mp4"] : ["-f", "null", "-"]
    await runBare(tools.ffmpeg, ["-nostdin", "-y", "-i", source, ...words, ...output], folder)
  }
  const shown = ["-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", "made.mp4"]
  const sizes = await runBare(tools.ffprobe, shown, folder)
  const bytes = sizes.split("\n").reduce((sum, line) => sum + (Number.parseInt(line, 10) || 0), 0)
  const kbps = (bytes * 8) / 1000 / SECONDS
  const ratio = kbps / target.bitrateKbps
  return {
    name: `bitrate: ${target.codec} ${target.width}x${target.height}, ${SECONDS} s`,
    measured: `${Math.round(kbps)} kbit/s`,
    reference: `${target.bitrateKbps} kbit/s asked for`,
    comparison: formatRatio(ratio),
    goal: `within ${GOAL * 100} %`,
    isMet: Math.abs(ratio - 1) <= GOAL,
  }
}

/** Four shots of the still, which differ in sharpness, motion and light, with grain. */
function shots(width: number, height: number, folder: string): string {
  const length = `loop=-1:1,settb=1/${RATE},setpts=N,fps=${RATE},trim=duration=${SECONDS / 4}`
  function pan(x: string, y: string): string {
    return `crop=3200:1800:x='${x}':y='${y}',scale=${width}:${height}`
  }
  const graph = [
    "[0:v]format=yuv420p,split=4[a][b][c][d]",
    `[a]gblur=sigma=4,${length},${pan("200+60*t", "400+30*sin(t)")}[e]`,
    `[b]${length},${pan("1500-280*t", "100+50*t")}[f]`,
    `[c]${length},${pan("800+40*sin(2*t)", "450+25*cos(3*t)")}[g]`,
    `[d]gblur=sigma=2,eq=brightness=-0.15:contrast=0.7,${length},${pan("900", "400")}[h]`,
    "[e][f][g][h]concat=n=4,noise=alls=5:allf=t,format=yuv420p",
  ]
  return (
    `-framerate ${RATE} -i ${join(folder, "still.ppm")} -filter_complex ${graph.join(";")} ` +
    "-c:v libx264 -preset superfast -crf 10"
  )
}
