import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { JSON_LD_METADATA } from "../../support/site/pages.ts"
import { described, startFetchHarness } from "./fetch-harness.ts"
import type { FetchHarness } from "./fetch-harness.ts"

let lab: FetchHarness

beforeAll(async () => {
  lab = await startFetchHarness()
})

afterAll(async () => {
  await lab[Symbol.asyncDispose]()
})

describe("metadata", () => {
  test("are the fields of a page", async () => {
    const url = lab.site.url("/page/json-ld")
    expect(described(await lab.metadata("/page/json-ld"))).toMatchObject({
      url,
      title: JSON_LD_METADATA.title,
      duration: JSON_LD_METADATA.duration,
      view_count: JSON_LD_METADATA.viewCount,
      like_count: JSON_LD_METADATA.likeCount,
      comment_count: JSON_LD_METADATA.commentCount,
      uploader: JSON_LD_METADATA.uploader,
      upload_date: expect.stringContaining(JSON_LD_METADATA.uploadDate),
      description: JSON_LD_METADATA.description,
      thumbnail: lab.site.url("/media/picture.png"),
      is_live: false,
      formats: [expect.objectContaining({ ext: "mp4" })],
    })
    expect(lab.harness.io.outputs.size).toBe(0)
  })

  test("have null for missing fields, and the formats of a manifest", async () => {
    const found = described(await lab.metadata("/page/hls?title=A clip"))
    expect(found).toMatchObject({ title: "A clip", view_count: null, uploader: null })
    expect(found.formats.map(({ height }) => height)).toEqual([360, 720, 1080])
  })

  test("cut long texts", async () => {
    const found = described(await lab.metadata("/page/json-ld?times=10000"))
    expect(found.title).toBe(JSON_LD_METADATA.title)
    expect(found.description).toHaveLength(10_000)
    const title = "Ж".repeat(10_000)
    const titled = described(await lab.metadata("/page/video?title=Ж&times=100000"))
    expect(titled).toMatchObject({ title, formats: [{ ext: "mp4" }] })
  })

  test.for(["/live/index.m3u8", "/page/live"])("mark %s as a live stream", async (path) => {
    expect(described(await lab.metadata(path))).toMatchObject({ is_live: true })
  })

  test.for([
    "/media/clip.webm",
    "/as/clip.mp4?file=clip.mp4&type=text/plain",
    "/as/get.php?file=clip.mp4&type=",
  ])("describe the file %s", async (path) => {
    expect(described(await lab.metadata(path))).toMatchObject({ is_live: false })
  })

  test.for([
    "/page/nothing",
    "/media/picture.png",
    "/bytes/archive.zip",
    "/as/words.txt?file=captions.srt&type=text/plain",
  ])("of %s fail without a video", async (path) => {
    const report = await lab.metadata(path)
    expect(report).toMatchObject({ kind: "failed", failure: { code: "unsupported_site" } })
  })
})
