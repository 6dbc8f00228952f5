import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ALL_RENDITIONS, findWrongRenditions } from "../../renditions/render-shape.ts"
import type { RenditionRequest } from "../../renditions/render-shape.ts"
import { SHAPES } from "../../renditions/shapes.ts"
import { WIDE_TESTS_VARIABLE, selectCases } from "../../support/wide.ts"
import { openSoundStage } from "./sound-stage.ts"
import type { SoundStage } from "./sound-stage.ts"

/** The oddest, each of another kind; `npm run test:renditions` tries all of them. */
const CHOSEN = new Set([
  "odd sides",
  "rotated by 90",
  "PAL 16:9",
  "HDR10",
  "top field first",
  "a screen's capture",
  "a gap",
  "all at once",
  "an MP4 without its end",
  "sound alone",
])
/** A rendition of each codec and each container, in different sizes. */
const FEW: readonly RenditionRequest[] = [
  { codec: "h264", size: "480p", container: "mp4" },
  { codec: "h265", size: "480p", container: "mov" },
  { codec: "vp9", size: "480p", container: "webm" },
  { codec: "av1", size: "480p", container: "mp4" },
]
const SHAPE_MS_MAX = 600_000
const AT_ONCE = 2

const asked = process.env[WIDE_TESTS_VARIABLE] === "true" ? ALL_RENDITIONS : FEW
const shapes = selectCases(
  SHAPES.filter(({ name }) => CHOSEN.has(name)),
  SHAPES.filter(({ name }) => !CHOSEN.has(name)),
)

describe("renditions play back whatever their source is", () => {
  let stage: SoundStage

  beforeAll(async () => {
    stage = await openSoundStage("renditions", { RUNNER_CAPACITY: String(AT_ONCE) })
  })

  afterAll(async () => await stage[Symbol.asyncDispose]())

  test.concurrent.for(shapes)("$name", { timeout: SHAPE_MS_MAX }, async (shape) => {
    expect(await findWrongRenditions(stage, shape, asked)).toEqual([])
  })
})
