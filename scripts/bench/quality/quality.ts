import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { MeasureContext } from "../../../container/tasks/render/compare-place.ts"
import { measureQuality } from "../../../container/tasks/render/measure-quality.ts"
import type {
  MadeRendition,
  RenditionSource,
} from "../../../container/tasks/render/measure-quality.ts"
import { chooseMetric } from "../../../container/tools/quality/choose-metric.ts"
import { meanScore, METRICS } from "../../../container/tools/quality/metrics.ts"
import type { QualityMetric } from "../../../container/tools/quality/metrics.ts"
import { videoArguments } from "../../../container/tools/renditions/video-encoder.ts"
import { formatDifference, formatSeconds } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { runBare, tools } from "../media.ts"
import type { BenchScope } from "../scope.ts"
import { timeMs } from "../statistics.ts"
import { makeFilm } from "./film.ts"
import { openMeasureContext } from "./workspace.ts"

const FILM = "film.mp4"
const SECONDS = 20
const RATE = { frames: 30, seconds: 1 }
const SHARE_GOAL = 0.1
/** How far the score of a sample may be from that of all frames. */
const AGREEMENT: Record<QualityMetric, number> = { vmaf: 2, ssim: 0.01 }

const SIZES = [
  { width: 1920, height: 1080 },
  { width: 1280, height: 720 },
  { width: 854, height: 480 },
]

type SizedRendition = MadeRendition & { width: number; height: number }

/** What a measurement costs of the encode, and how near the score of its sample is to that of all. */
export async function benchQuality(scope: BenchScope): Promise<Figure[]> {
  const context = await openMeasureContext(scope)
  await makeFilm(context.workspace, FILM, SECONDS)
  const source = { name: FILM, videoStream: 0, startSeconds: 0, durationSeconds: SECONDS }
  const metric = await chooseMetric(context.taskSandbox.sandbox, tools.ffmpeg)
  const figures: Figure[] = []
  for (const count of [1, 3]) {
    const { made, encodeMs } = await encode(context.workspace, SIZES.slice(0, count))
    figures.push(...(await measureOne(context, { source, made, encodeMs, metric })))
  }
  return figures
}

async function measureOne(
  context: MeasureContext,
  of: { source: RenditionSource; made: SizedRendition[]; encodeMs: number; metric: QualityMetric },
): Promise<Figure[]> {
  const { source, made, encodeMs, metric } = of
  const clock = { leftMs: () => Infinity }
  const found: Awaited<ReturnType<typeof measureQuality>>[] = []
  const ms = await timeMs(async () => {
    found.push(await measureQuality(context, clock, source, made, encodeMs))
  })
  const share: Figure = {
    name: `quality: ${made.length} of 1080p and below, ${SECONDS} s, ${metric}`,
    measured: formatSeconds(ms),
    reference: `${formatSeconds(encodeMs)} encode`,
    comparison: (ms / encodeMs).toFixed(3),
    goal: `<= ${SHARE_GOAL}`,
    isMet: ms <= encodeMs * SHARE_GOAL,
  }
  const figures = [share]
  for (const each of made) {
    const sampled = found[0]?.get(each.key)?.score ?? NaN
    const whole = await scoreWhole(context.workspace, { source, made: each, metric })
    figures.push({
      name: `quality: score of a sample, ${each.height} lines of ${made.length}, ${metric}`,
      measured: String(sampled),
      reference: `${whole} all frames`,
      comparison: formatDifference(sampled - whole, (size) => size.toFixed(5)),
      goal: `within ${AGREEMENT[metric]}`,
      isMet: Math.abs(sampled - whole) <= AGREEMENT[metric],
    })
  }
  return figures
}

/** Encodes the film to some sizes with one decode, as H.264 by the preset. */
async function encode(folder: string, sizes: readonly { width: number; height: number }[]) {
  const made = sizes.map(({ width, height }) => {
    const filters = [`fps=${RATE.frames}`, `scale=${width}:${height}`, "format=yuv420p"]
    const name = `made-${sizes.length}-${height}.mp4`
    return { key: name, name, filters, frameRate: RATE, width, height }
  })
  const outputs = made.flatMap(({ name, filters, width, height }) => {
    const target = { codec: "h264", container: "mp4", bitrateKbps: null } as const
    const argv = videoArguments(
      { ...target, width, height, frameRate: RATE },
      { number: 1, log: "pass" },
    )
    return ["-filter:v", filters.join(","), ...argv, name]
  })
  const words = ["-v", "error", "-nostdin", "-y", "-i", FILM, ...outputs]
  return { made, encodeMs: await timeMs(() => runBare(tools.ffmpeg, words, folder)) }
}

async function scoreWhole(
  folder: string,
  of: { source: RenditionSource; made: MadeRendition; metric: QualityMetric },
): Promise<number> {
  const { source, made, metric } = of
  const { filter, readScores } = METRICS[metric]
  const graph = `[0:v:0]${made.filters.join(",")}[source];[1:v:0][source]${filter("whole.log")}`
  const inputs = ["-i", source.name, "-i", made.name]
  const words = ["-v", "error", "-nostdin", ...inputs, "-lavfi", graph, "-f", "null", "-"]
  await runBare(tools.ffmpeg, words, folder)
  return meanScore(metric, readScores(await readFile(join(folder, "whole.log"), "utf8"))) ?? NaN
}
