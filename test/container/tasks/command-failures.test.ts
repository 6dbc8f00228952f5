import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import { makeVideo, startHarness } from "../harness.ts"
import type { Harness } from "../harness.ts"

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
  harness.io.inputs.set("in_1", await makeVideo())
  harness.io.inputs.set("in_2", new TextEncoder().encode("This is no video."))
})

beforeEach(() => {
  harness.io.reports.length = 0
})

afterAll(() => harness.close())

test.for([
  ["-i in_1 -c:v nosuch out_1", "encoder_not_found", '"nosuch"'],
  ["-c:v nosuch -i in_1 out_1", "decoder_not_found", '"nosuch"'],
  ["-i in_1 -nosuch 1 out_1", "invalid_option", '"-nosuch"'],
  ["-i in_1 -i", "invalid_option", '"-i"'],
  ["-i in_1 -vf scal=10:10 out_1", "filter_error", '"scal"'],
  ["-i in_1 -vf scale=abc out_1", "filter_error", '"scale"'],
  ["-i in_1 -vf scale=w=10:foo=3 out_1", "filter_error", '"foo"'],
  ["-i in_1 -vf crop=1000:1000 out_1", "filter_error", '"crop"'],
  ["-i in_1 -vf subtitles=none.srt out_1", "filter_error", '"none.srt"'],
  ["-i in_1 -c:v copy -vf hflip out_1", "invalid_option", "copied"],
  ["-i in_1 -map 0:s out_1", "stream_not_found", '"0:s"'],
  ["-i in_1 -map 3:v out_1", "stream_not_found", "input 3"],
  ["-i in_1 -filter_complex [0:v]overlay[x] -map [x] out_1", "stream_not_found", '"overlay"'],
  ["-i in_1 -filter_complex [9:v]hflip[x] -map [x] out_1", "stream_not_found", "input 9"],
  ["-i in_1 -filter_complex [0:v]hflip[x] -map [y] out_1", "stream_not_found", "[y]"],
  ["-i nothing.mp4 out_1", "invalid_input", '"nothing.mp4"'],
  ["-i in_2 out_1", "invalid_input", '"in_2.mp4"'],
  ["-i in_1 nowhere/out.mp4", "invalid_input", '"nowhere/out.mp4"'],
  ["-i in_1 out.zzz", "invalid_option", '"out.zzz"'],
  ["-i in_1 -f nosuch out_1", "invalid_option", '"nosuch"'],
  ["-i in_1", "no_output", "no output"],
  ["-i in_1 -vn -an out_1", "no_output", "no stream"],
  ["-i in_1 -crf abc out_1", "invalid_option", '"-crf" does not take "abc"'],
  ["-i in_1 -preset bogus out_1", "invalid_option", '"bogus"'],
  ["-i in_1 -ss abc out_1", "invalid_option", '"-ss" does not take "abc"'],
  [
    "-i in_1 -vf scale=63:35 -c:v libx264 -pix_fmt yuv420p out_1",
    "invalid_option",
    "an even width and height",
  ],
  ["-i in_1 -c copy out.webm", "invalid_option", "Only VP8"],
  ["-i in_1 -f image2 many.png -c copy out_1", "invalid_option", '"many.png" is one name'],
  ["-loglevel foo -i in_1 out_1", "invalid_option", '"-loglevel" does not take "foo"'],
  ["-i in_1 -vf drawtext=text=a:textfile=in_2.mp4 out_1", "filter_error", "a text and a file"],
  [
    "-f lavfi -i color=d=1 -filter_complex [0:a]volume=2[a] -map [a] out_1",
    "stream_not_found",
    "[0:a]volume=2[a]",
  ],
  [
    "-ss 100 -i in_1 -f mpegts out_1",
    "no_output",
    "-ss 100 is past the end of in_1.mp4 (2 seconds long)",
  ],
])("%s fails with %s and mentions %s", async ([command = "", code = "", expected = ""]) => {
  const report = await harness.finish(harness.order([command.split(" ")]))
  expect(report).toMatchObject({ kind: "failed", blame: "caller", failure: { code } })
  if (report.kind !== "failed") return
  expect(report.failure.message).toContain(expected)
  expect(report.failure.message).toMatch(/^[^\n]+\.$/)
  expect(report.failure.lines.length).toBeLessThanOrEqual(20)
  expect(JSON.stringify(report)).not.toContain(harness.settings.workDir)
})

async function finishList(text: string) {
  harness.io.inputs.set("in_3", new TextEncoder().encode(text))
  const inputs = [...harness.io.inputs].map(([key, { length }]) => ({
    key,
    name: key === "in_3" ? "in_3.txt" : `${key}.mp4`,
    size_bytes: length,
  }))
  harness.io.reports.length = 0
  const words = "-f concat -safe 0 -i in_3.txt -c copy out_1".split(" ")
  const report = await harness.finish(harness.order([words], { inputs }))
  harness.io.inputs.delete("in_3")
  return report
}

test("a list with a missing file fails, although ffmpeg skips the file", async () => {
  const report = await finishList("file in_1.mp4\nfile gone.mp4\n")
  expect(report).toMatchObject({
    kind: "failed",
    failure: {
      code: "invalid_input",
      message: 'The list names "gone.mp4", which cannot be opened.',
    },
  })
})

test("a list with a path outside fails the same way whether the path exists or not", async () => {
  const reported = []
  for (const path of ["/etc/shadow", "/etc/nosuch", "/etc/passwd/nosuch"]) {
    const report = await finishList(`file '${path}'\n`)
    expect(report).toMatchObject({ failure: { message: expect.stringContaining(path) } })
    if (report.kind === "failed") reported.push(report.failure.lines.join("\n").replace(path, ""))
  }
  expect(reported[0]).toContain("cannot be opened")
  expect(reported).toEqual([reported[0], reported[0], reported[0]])
})
