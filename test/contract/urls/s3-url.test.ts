import { describe, expect, test } from "vitest"
import { encodeS3Key, isS3Url, parseS3Url } from "../../../src/contract/urls/s3-url.ts"

describe("the URL of an object", () => {
  test.each([
    ["s3://films/a.mp4", ["a.mp4"]],
    ["S3://films/a.mp4", ["a.mp4"]],
    ["s3://films/a b?c#d+e//f.mp4", ["a b?c#d+e//f.mp4"]],
    ["s3://films//a.mp4", ["/a.mp4"]],
    ["s3://films/100%.mp4", ["100%.mp4"]],
    ["s3://films/caf%C3%A9%20%2B.mp4", ["caf%C3%A9%20%2B.mp4", "café +.mp4"]],
    ["s3://films/50%2525.mp4", ["50%2525.mp4", "50%25.mp4"]],
    ["s3://films/...mp4", ["...mp4"]],
    // The decoded keys would be relative, so only the literal keys are used.
    ["s3://films/%2e%2e/others/a.mp4", ["%2e%2e/others/a.mp4"]],
    ["s3://films/..%2Fothers%2Fa.mp4", ["..%2Fothers%2Fa.mp4"]],
    ["s3://films/a%0Ab.mp4", ["a%0Ab.mp4"]],
    [`s3://films/${"%C3%A9".repeat(400)}`, ["é".repeat(400)]],
  ])("%s names the bucket, and the rest is the key", (text, keys) => {
    expect(parseS3Url(text)).toEqual({ bucket: "films", keys })
  })

  test.each([
    ["s3:", "expected s3://bucket/key"],
    ["s3:films/a.mp4", "expected s3://bucket/key"],
    ["s3:/films/a.mp4", "expected s3://bucket/key"],
    ["s3://", "expected s3://bucket/key"],
    ["s3:///a.mp4", "expected s3://bucket/key"],
    ["s3://films", "expected s3://bucket/key"],
    ["s3://films/", "expected s3://bucket/key"],
    ["s3://films/a/", "ends in / is a folder"],
    ["s3://films/..", "without the segments . and .."],
    ["s3://films/../others/a.mp4", "without the segments . and .."],
    ["s3://films/a/./b.mp4", "without the segments . and .."],
    ["s3://films/a\nb.mp4", "without control characters"],
    ["s3://films/a\ud800.mp4", "a key of valid Unicode"],
    [`s3://films/${"x".repeat(1025)}`, "at most 1024 bytes"],
    [`s3://films/${"é".repeat(513)}`, "at most 1024 bytes"],
  ])("%j is refused with the expected form", (text, error) => {
    expect(parseS3Url(text)).toEqual({ error: expect.stringContaining(error) })
  })

  test("is recognized by its scheme", () => {
    expect(["s3://a/b", "S3:x", "https://s3/a", "s3x://a/b", " s3://a/b"].map(isS3Url)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

test("an encoded key decodes to the same key in every parser", () => {
  const key = "/a//b c+%?#é!'()*~&=@:;,$[]日.mp4"
  const url = new URL(`http://store.test/films/${encodeS3Key(key)}`)
  expect(decodeURIComponent(url.pathname)).toBe(`/films/${key}`)
  expect([url.search, url.hash]).toEqual(["", ""])
  expect(url.pathname).toMatch(/^[\w/%.~-]+$/)
})
