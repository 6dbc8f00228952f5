import { expect, test } from "vitest"
import { makeFileNameForTitle } from "../../../../container/tools/ytdlp/download-page.ts"

test.for([
  ["A clip", "mp4", "A clip.mp4"],
  ["a/b\\c: d", "mp4", "a-b-c- d.mp4"],
  ["../../etc/passwd", "mp4", "-..-etc-passwd.mp4"],
  [".hidden", "mp4", "hidden.mp4"],
  ["two\nlines\u0000\u202e", "webm", "two lines.webm"],
  ["ends. ", "mp3", "ends.mp3"],
  [" . ", "mp4", "video.mp4"],
  ["", "mp4", "video.mp4"],
  [null, "mp4", "video.mp4"],
] as const)("%j becomes a file name", ([title, extension, name]) => {
  expect(makeFileNameForTitle(title, extension)).toBe(name)
})

test.for(["é".repeat(300), "👩‍👩‍👧‍👦".repeat(50), "x".repeat(1000)])(
  "a long title is cut between characters",
  (title) => {
    const name = makeFileNameForTitle(title, "mp4")
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200)
    expect(Buffer.byteLength(name)).toBeGreaterThan(170)
    expect(name).toMatch(/\.mp4$/)
    expect(title.startsWith(name.slice(0, -4))).toBe(true)
    expect(name.isWellFormed()).toBe(true)
  },
)
