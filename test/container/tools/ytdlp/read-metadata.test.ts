import { expect, test } from "vitest"
import { toVideoMetadata } from "../../../../container/tools/ytdlp/read-metadata.ts"
import { videoMetadataSchema } from "../../../../src/contract/tasks/metadata.ts"

const url = "https://example.com/v"

test("missing fields are null", () => {
  const found = toVideoMetadata(url, {})
  expect(videoMetadataSchema.parse(found)).toEqual({
    url,
    title: null,
    duration: null,
    view_count: null,
    like_count: null,
    comment_count: null,
    uploader: null,
    upload_date: null,
    description: null,
    thumbnail: null,
    is_live: false,
    extractor: null,
    formats: [],
  })
})

test("implausible values are null, and long texts are cut", () => {
  const found = toVideoMetadata(url, {
    title: "x".repeat(20_000),
    duration: -5,
    view_count: 1e300,
    like_count: 12.6,
    comment_count: "many",
    upload_date: "20261399",
    timestamp: 1e20,
    thumbnail: "no url",
    is_live: 1,
    formats: [{ format_id: 1, width: -1, fps: 1e9, vcodec: "none", filesize_approx: 99.5 }],
  })
  expect(videoMetadataSchema.parse(found)).toMatchObject({
    title: "x".repeat(10_000),
    duration: null,
    view_count: null,
    like_count: 13,
    comment_count: null,
    upload_date: null,
    thumbnail: null,
    is_live: false,
    formats: [{ format_id: "1", width: null, fps: null, video_codec: null, size_bytes: 100 }],
  })
})

test("a timestamp takes precedence over a day", () => {
  const day = { upload_date: "20261120" }
  expect(toVideoMetadata(url, day)?.upload_date).toBe("2026-11-20")
  expect(toVideoMetadata(url, { ...day, timestamp: 1_795_308_652 })?.upload_date).toBe(
    "2026-11-22T00:50:52Z",
  )
})
