import { createWriteStream } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import pWaitFor from "p-wait-for"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeJsonBody } from "../../scripts/cli/client/caller.ts"
import type { ApiCaller } from "../../scripts/cli/client/caller.ts"
import { uploadMedia } from "../../scripts/cli/client/requests.ts"
import { startWranglerDevService } from "../../scripts/image/service.ts"
import { makeTempFolder } from "../../scripts/cli/temp-folder.ts"
import { findWrong } from "../renditions/find-wrong.ts"
import type { ExpectedRendition } from "../renditions/find-wrong.ts"
import { makeShape } from "../renditions/make-shape.ts"
import { SHAPES } from "../renditions/shapes.ts"

/** Six encodes, and the start of a container before the first of them. */
const END_MS_MAX = 150_000
const TEST_MS_MAX = 180_000
const POLL_MS = 200

const created = z.object({ id: z.uuid() })
const job = z.looseObject({
  status: z.string(),
  error: z.object({ code: z.string() }).optional(),
  outputs: z.array(
    z.looseObject({
      url: z.url(),
      codec: z.string(),
      resolution: z.string(),
      duration_seconds: z.number(),
      size_bytes: z.int(),
      quality: z.object({ metric: z.string(), score: z.number() }),
    }),
  ),
})

const ASKED = [
  { codec: "h264", size: "480p", container: "mp4" },
  { codec: "h264", size: "480p", container: "mov", bitrate_kbps: 400 },
  { codec: "h265", size: "480p", container: "mp4" },
  { codec: "vp9", size: "480p", container: "webm" },
  { codec: "av1", size: "480p", container: "webm" },
  { codec: "av1", size: "480p", container: "mp4", bitrate_kbps: 400 },
] as const

describe("renditions on containers", () => {
  const opened = new AsyncDisposableStack()
  let folder: string
  let caller: ApiCaller

  beforeAll(async () => {
    folder = opened.use(await makeTempFolder("image-renditions")).path
    const service = opened.use(await startWranglerDevService())
    caller = (await service.openAccount("one")).caller
  })

  afterAll(() => opened.disposeAsync())

  it.for(["10 bits", "rotated by 90", "HDR10", "top field first", "a screen's capture"])(
    "play back in every codec: %s",
    { timeout: TEST_MS_MAX },
    async (name) => {
      const shape = SHAPES.find((each) => each.name === name)
      if (!shape) throw new Error(`There is no shape ${name}.`)
      const source = await uploadMedia(caller, await makeShape(folder, shape))
      const outputs = ASKED.map(({ size, ...each }) => ({ ...each, resolution: size }))
      const order = makeJsonBody({ source: `svc_id://${source}`, outputs, quality_metrics: true })
      const { text } = await caller.ask("POST", "/v1/transcode", order)
      const ended = await untilEnd(created.parse(JSON.parse(text)).id)
      expect(ended).toMatchObject({ status: "completed" })
      expect(ended.outputs).toHaveLength(ASKED.length)
      for (const [index, asked] of ASKED.entries()) {
        const output = ended.outputs[index]
        if (!output) throw new Error("An output is missing.")
        const path = await download(output.url, `${index}.${asked.container}`)
        const made: ExpectedRendition = { ...asked, path, output, bytes: (await stat(path)).size }
        expect({ asked, wrong: (await findWrong(shape, made)).wrong }).toEqual({ asked, wrong: [] })
        expect(output.quality.score).toBeGreaterThan(output.quality.metric === "vmaf" ? 40 : 0.7)
      }
    },
  )

  async function untilEnd(id: string) {
    return await pWaitFor<z.infer<typeof job>>(
      async () => {
        const found = job.parse(JSON.parse((await caller.ask("GET", `/v1/jobs/${id}`)).text))
        return ["completed", "failed"].includes(found.status) && pWaitFor.resolveWith(found)
      },
      { interval: POLL_MS, timeout: { milliseconds: END_MS_MAX, message: "it did not end" } },
    )
  }

  async function download(url: string, name: string): Promise<string> {
    const path = join(folder, name)
    const { pathname } = new URL(url)
    const { location } = (await caller.open(pathname)).resume().headers
    await pipeline(await caller.open(location ?? ""), createWriteStream(path))
    return path
  }
})
