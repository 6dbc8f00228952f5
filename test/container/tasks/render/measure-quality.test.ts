import { execFileSync } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { measureRenditionQuality } from "../../../../container/tasks/render/measure-quality.ts"
import type {
  EncodedRendition,
  ComparisonSource,
} from "../../../../container/tasks/render/measure-quality.ts"
import { openQualityLab } from "./quality-lab.ts"
import type { QualityLab } from "./quality-lab.ts"

const PICTURE =
  "-f lavfi -i testsrc2=size=320x180:rate=25:duration=4,noise=alls=4:allf=t,format=yuv420p"
const X264 = "-c:v libx264 -preset veryfast"
const CLOCK = { leftMs: () => 60_000 }
const ENCODE_MS = 30_000

/** Build of ffmpeg with VMAF, from the PyPI package imageio-ffmpeg. */
const vmafBuild = findVmafBuild()
const LACK = "Python 3 here has no package imageio-ffmpeg, whose ffmpeg has VMAF"

describe("the quality of renditions", () => {
  let lab: QualityLab
  let source: ComparisonSource
  let made: EncodedRendition[]

  beforeAll(async () => {
    lab = await openQualityLab()
    ;({ source, made } = await makeRenditions(lab))
  })

  afterAll(() => lab[Symbol.asyncDispose]())

  test("is the mean SSIM of frames, and separates good from bad ones", async () => {
    const qualities = await measureRenditionQuality(lab.context, CLOCK, source, made, ENCODE_MS)
    expect([...qualities.keys()]).toEqual(made.map(({ key }) => key))
    const scores = [...qualities.values()].map(({ metric, score }) => {
      expect(metric).toBe("ssim")
      return score
    })
    const [good = 0, bad = 0, small = 0] = scores
    expect(good).toBeGreaterThan(0.95)
    expect(bad).toBeLessThan(good - 0.1)
    expect(small).toBeGreaterThan(0.95)
    expect(Math.max(...scores)).toBeLessThan(1)
  })

  test("of the shortest encode takes one place, and is close to that of a long one", async () => {
    const least = await measureRenditionQuality(lab.context, CLOCK, source, made, 1)
    const most = await measureRenditionQuality(lab.context, CLOCK, source, made, ENCODE_MS)
    expect(least.size).toBe(made.length)
    for (const [key, { score }] of least) {
      expect(Math.abs(score - (most.get(key)?.score ?? 0))).toBeLessThan(0.03)
    }
  })

  test("is measured at the start if the duration is unknown", async () => {
    const endless = { ...source, durationSeconds: null }
    const qualities = await measureRenditionQuality(lab.context, CLOCK, endless, made, ENCODE_MS)
    expect(qualities.size).toBe(made.length)
  })

  test("is measured at the start if the probed duration is too long", async () => {
    const long = { ...source, durationSeconds: 3600 }
    const qualities = await measureRenditionQuality(lab.context, CLOCK, long, made, 1)
    expect(qualities.size).toBe(made.length)
  })

  test("leaves no files", async () => {
    const before = await lab.files()
    await measureRenditionQuality(lab.context, CLOCK, source, made, ENCODE_MS)
    expect(await lab.files()).toEqual(before)
  })

  test("is left out if no time remains", async () => {
    const clock = { leftMs: () => 0 }
    expect((await measureRenditionQuality(lab.context, clock, source, made, ENCODE_MS)).size).toBe(
      0,
    )
  })

  test("is left out for an unreadable rendition, and measured for others", async () => {
    await writeFile(join(lab.context.workspace, "broken.mp4"), "no media")
    const [first] = made
    if (!first) throw new Error("There is no rendition.")
    const broken = {
      ...first,
      key: "broken",
      name: "broken.mp4",
      frameRate: { frames: 50, seconds: 1 },
    }
    const qualities = await measureRenditionQuality(
      lab.context,
      CLOCK,
      source,
      [broken, first],
      ENCODE_MS,
    )
    expect([...qualities.keys()]).toEqual([first.key])
  })

  test("stops with its run", async () => {
    const abort = new AbortController()
    const context = { ...lab.context, signal: abort.signal }
    const measuring = measureRenditionQuality(context, CLOCK, source, made, ENCODE_MS)
    abort.abort(new Error("canceled"))
    await expect(measuring).rejects.toThrow("canceled")
  })
})

describe.skipIf(vmafBuild === null)(
  `the quality of renditions, by VMAF${vmafBuild === null ? ` (skipped: ${LACK})` : ""}`,
  () => {
    let lab: QualityLab

    beforeAll(async () => {
      lab = await openQualityLab({ ffmpeg: vmafBuild ?? "" })
    })

    afterAll(() => lab[Symbol.asyncDispose]())

    test("is between 0 and 100", async () => {
      const { source, made } = await makeRenditions(lab)
      const qualities = await measureRenditionQuality(lab.context, CLOCK, source, made, ENCODE_MS)
      const scores = [...qualities.values()].map(({ metric, score }) => {
        expect(metric).toBe("vmaf")
        return score
      })
      const [good = 0, bad = 100, small = 0] = scores
      expect(good).toBeGreaterThan(85)
      expect(bad).toBeLessThan(good - 20)
      expect(small).toBeGreaterThan(85)
      expect(Math.max(...scores)).toBeLessThanOrEqual(100)
    })
  },
)

/** Encodes renditions of a moving picture: a good one, a bad one, and a small good one. */
async function makeRenditions(
  lab: QualityLab,
): Promise<{ source: ComparisonSource; made: EncodedRendition[] }> {
  await lab.make("source.mp4", `${PICTURE} ${X264} -crf 10`)
  const source = await lab.describe("source.mp4")
  const filters = "fps=25,format=yuv420p"
  const small = `fps=25,scale=160:90:flags=bicubic,format=yuv420p`
  const rate = [25, 1] as const
  const made = [
    await lab.encode(source, { name: "good.mp4", filters, rate, words: `${X264} -crf 18` }),
    await lab.encode(source, { name: "bad.mp4", filters, rate, words: `${X264} -crf 45` }),
    await lab.encode(source, { name: "small.mp4", filters: small, rate, words: `${X264} -crf 16` }),
  ]
  return { source, made }
}

function findVmafBuild(): string | null {
  const program = "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())"
  try {
    const path = capture("python3", ["-c", program]).trim()
    const filters = capture(path, ["-hide_banner", "-filters"])
    return filters.includes(" libvmaf ") ? path : null
  } catch {
    return null
  }
}

function capture(program: string, argv: string[]): string {
  return execFileSync(program, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
}
