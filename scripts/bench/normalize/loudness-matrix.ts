import { createWriteStream } from "node:fs"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { meterLoudness } from "../../local/loudness-meter.ts"
import { formatDifference } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { uploadMedia } from "../requests.ts"
import type { BenchService } from "../service.ts"
import { makeFormat, makeSound } from "./sound.ts"
import { submitNormalization } from "./submit.ts"

const SECONDS = 20

type Format = { name: string; words: string; isVideo?: boolean; isLossless?: boolean }

const FORMATS: Format[] = [
  { name: "sound.wav", words: "-c:a pcm_s16le", isLossless: true },
  { name: "sound.flac", words: "-c:a flac", isLossless: true },
  { name: "sound.mp3", words: "-ar 44100 -c:a libmp3lame -b:a 160k" },
  { name: "sound.m4a", words: "-c:a aac -b:a 160k" },
  { name: "sound.opus", words: "-c:a libopus -b:a 96k" },
  { name: "sound.mkv", words: "-c:a aac -b:a 160k", isVideo: true },
]

/** The first needs one gain alone; for the second peaks have to be limited. */
const TARGETS = [
  { type: "linear", lufs: -23, truePeak: -1 },
  { type: "dynamic", lufs: -14, truePeak: -3 },
] as const
type Target = (typeof TARGETS)[number]

/** How far the loudness and the peak of results may be from their target. */
const EXACT = { loudness: 0.3, peak: 0 }
const ROUGH = { loudness: 0.5, peak: 0.5 }

/** Results of formats and targets as another meter measures them. */
export async function measureMatrix(service: BenchService, folder: string): Promise<Figure[]> {
  const sound = await makeSound(folder, "short.wav", SECONDS)
  const figures: Figure[] = []
  for (const format of FORMATS) {
    const path = await makeFormat(folder, sound, format)
    const fileId = await uploadMedia(service.caller, path)
    for (const target of TARGETS) {
      figures.push(await measureOne(service, { folder, format, fileId, target }))
    }
  }
  return figures
}

async function measureOne(
  service: BenchService,
  of: { folder: string; format: Format; fileId: string; target: Target },
): Promise<Figure> {
  const { folder, format, fileId, target } = of
  const record = await submitNormalization(service, fileId, {
    loudnorm_i: target.lufs,
    loudnorm_tp: target.truePeak,
  })
  const path = await download(service, record.download_url, folder)
  const found = await meterLoudness(path)
  if (!found) throw new Error(`the result of ${format.name} has no sound`)
  const allowed = format.isLossless && target.type === "linear" ? EXACT : ROUGH
  const off = found.lufs - target.lufs
  const over = found.truePeakDbtp - target.truePeak
  return {
    name: `normalize: ${format.name} to ${target.lufs} LUFS, ${record.normalization_type}`,
    measured: `${found.lufs} LUFS, ${found.truePeakDbtp} dBTP`,
    reference: `${target.lufs} LUFS, at most ${target.truePeak} dBTP`,
    comparison: `${formatTenths(off)} LU, ${formatTenths(over)} dB`,
    goal: `within ${allowed.loudness} LU, <= +${allowed.peak} dB`,
    isMet:
      Math.abs(off) <= allowed.loudness + ROUNDING &&
      over <= allowed.peak + ROUNDING &&
      record.normalization_type === target.type,
  }
}

/** Of differences of decimal fractions. */
const ROUNDING = 1e-6

function formatTenths(value: number): string {
  return formatDifference(value, (size) => size.toFixed(1))
}

async function download({ caller }: BenchService, url: string, folder: string): Promise<string> {
  const { pathname } = new URL(url)
  const { location } = (await caller.open(pathname)).resume().headers
  const path = join(folder, `result-${pathname.slice(pathname.lastIndexOf("/") + 1)}`)
  await pipeline(await caller.open(location ?? ""), createWriteStream(path))
  return path
}
