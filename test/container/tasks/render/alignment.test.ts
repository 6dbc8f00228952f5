import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { compareSegment } from "../../../../container/tasks/render/compare-segment.ts"
import type {
  EncodedRendition,
  ComparisonSource,
} from "../../../../container/tasks/render/measure-quality.ts"
import { openQualityLab } from "./quality-lab.ts"
import type { QualityLab } from "./quality-lab.ts"

/** Video whose frames all differ visibly. */
const MOVING =
  "-f lavfi -i testsrc2=size=160x90:rate=30000/1001:duration=6,format=yuv420p -f lavfi -i sine=d=6"
const X264 = "-c:v libx264 -preset veryfast -crf 12 -bf 3 -c:a aac"
const SCALE = "scale=96:54:flags=bicubic,format=yuv420p"
const NTSC = [30_000, 1001] as const
const FRAMES = 4
/** Latest compared time; the shortest source ends soon after it. */
const LAST_SECONDS = 4.2
/**
 * SSIM limits for a lossless rendition: at least EXACT against its own frame, below OTHER_FRAME
 * against another.
 */
const EXACT = 0.9995
const OTHER_FRAME = 0.98

type Case = {
  title: string
  name: string
  words: string
  filters: string
  rate: readonly [number, number]
  /** Index of the audio stream in the rendition; the first by default. */
  sound?: number
  /** Seconds of seek before a place, if 0.5 s is too short. */
  seekSeconds?: number
  /** Copy that is cut from the source, or packed anew. */
  cut?: { name: string; words: string }
  rendition?: { name: string; words: string }
}

const CASES: Case[] = [
  {
    title: "a constant rate, with B-frames and few keyframes",
    name: "constant.mp4",
    words: `${MOVING} ${X264} -g 250`,
    filters: `fps=30000/1001,${SCALE}`,
    rate: NTSC,
  },
  {
    title: "a variable rate, with a gap",
    name: "varying.mp4",
    words: `${MOVING} -vf select='not(eq(mod(n,5),2))*not(between(n,60,75))' -fps_mode vfr ${X264} -g 40`,
    filters: `fps=30000/1001,${SCALE}`,
    rate: NTSC,
  },
  {
    title: "times in milliseconds, at another rate",
    name: "varying.mkv",
    words: `${MOVING} -vf select='not(eq(mod(n,7),3))' -fps_mode vfr ${X264} -g 40`,
    filters: `fps=25,${SCALE}`,
    rate: [25, 1],
    rendition: { name: "out.webm", words: "-c:v libvpx-vp9 -lossless 1 -cpu-used 8 -c:a libopus" },
  },
  {
    title: "MPEG-TS with a late start, sound first, and open groups of pictures",
    name: "late.ts",
    words: `${MOVING} ${X264} -x264-params open-gop=1:scenecut=0:keyint=50 -output_ts_offset 5000`,
    filters: `fps=30000/1001,${SCALE}`,
    rate: NTSC,
    seekSeconds: 2.5,
  },
  {
    title: "MPEG-TS with an earlier audio stream that is not used",
    name: "sounds.ts",
    words: `${MOVING} -f lavfi -i sine=d=6 -filter_complex [0:v]setpts=PTS+0.5/TB[v];[2:a]asetpts=PTS+0.7/TB[a] -map [v] -map 1:a -map [a] ${X264} -g 30 -copyts`,
    sound: 1,
    filters: `fps=30000/1001,${SCALE}`,
    rate: NTSC,
    seekSeconds: 2.5,
  },
  {
    title: "a cut by an edit list",
    name: "whole.mp4",
    words: `${MOVING} ${X264} -g 90`,
    cut: { name: "cut.mp4", words: "-ss 1.3 -i whole.mp4 -c copy" },
    filters: `fps=30000/1001,${SCALE}`,
    rate: NTSC,
  },
  {
    title: "a rotated picture",
    name: "upright.mp4",
    words: `${MOVING} ${X264} -g 60`,
    cut: { name: "rotated.mp4", words: "-i upright.mp4 -c copy -metadata:s:v:0 rotate=90" },
    filters: "fps=30000/1001,transpose=clock,scale=54:96,format=yuv420p",
    rate: NTSC,
  },
  {
    title: "an interlaced picture",
    name: "interlaced.ts",
    words: `${MOVING} -vf tinterlace=interleave_top,setfield=tff -c:v mpeg2video -q:v 2 -flags +ilme+ildct -g 15 -bf 2 -c:a mp2`,
    filters: `bwdif=mode=send_frame:deint=interlaced,fps=15000/1001,${SCALE}`,
    rate: [15_000, 1001],
    seekSeconds: 2.5,
  },
]

let lab: QualityLab

beforeAll(async () => {
  lab = await openQualityLab()
})

afterAll(() => lab[Symbol.asyncDispose]())

describe("a comparison pairs frames with their source:", () => {
  test.for(CASES)("$title", async (each) => {
    await lab.make(each.name, each.words)
    if (each.cut) await lab.make(each.cut.name, each.cut.words)
    const source = await lab.describe(each.cut?.name ?? each.name, each.sound)
    const made = await lab.encode(source, {
      name: `${each.name}.mp4`,
      ...each.rendition,
      filters: each.filters,
      rate: each.rate,
      ...(each.sound !== undefined && { sound: each.sound }),
    })
    const last = Math.floor((LAST_SECONDS * each.rate[0]) / each.rate[1])
    for (const first of [0, Math.round(last / 2) + 3, last]) {
      const exact = await compare(source, made, first, each.seekSeconds)
      // A picture that starts after the audio lacks its first frame.
      const least = first === 0 ? FRAMES - 1 : FRAMES
      expect(exact.length, `from frame ${first}`).toBeGreaterThanOrEqual(least)
      expect(Math.min(...exact), `from frame ${first}`).toBeGreaterThan(EXACT)
    }
    // A shift by one frame lowers the score, so the comparison is sensitive.
    const [frames, seconds] = each.rate
    const later = { ...source, startSeconds: source.startSeconds + seconds / frames }
    const shifted = await compare(later, made, last, each.seekSeconds)
    expect(Math.min(...shifted)).toBeLessThan(OTHER_FRAME)
  })

  test("frames that a seek into a group of pictures breaks are left out", async () => {
    const [, , , late] = CASES
    await lab.make("open.ts", late?.words ?? "")
    const source = await lab.describe("open.ts")
    const as = { name: "open.mp4", filters: late?.filters ?? "", rate: [30_000, 1001] as const }
    const made = await lab.encode(source, as)
    const scores: number[] = []
    for (const first of [44, 46, 48, 94, 96, 98]) {
      scores.push(...(await compare(source, made, first, 0.2)))
    }
    expect(scores.length).toBeGreaterThan(0)
    expect(scores.length).toBeLessThan(6 * FRAMES)
    expect(Math.min(...scores)).toBeGreaterThan(EXACT)
  })
})

async function compare(
  source: ComparisonSource,
  made: EncodedRendition,
  first: number,
  seekSeconds = 0.5,
): Promise<number[]> {
  const { scores, end } = await compareSegment(lab.context, {
    source,
    renditions: [made],
    frameRate: made.frameRate,
    place: { first, count: FRAMES },
    preRoll: { seekSeconds, keptSeconds: 0.5 },
    metric: "ssim",
    timeLimitMs: 20_000,
  })
  expect(end).toBe("compared")
  return scores[0] ?? []
}
