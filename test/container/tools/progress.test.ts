import { expect, test } from "vitest"
import { expectedSeconds, openProgressReader } from "../../../container/tools/progress.ts"
import { parseTime } from "../../../src/contract/media-time.ts"

test.for<[string | undefined, number | null]>([
  ["00:01:02.5", 62.5],
  ["1:30", 90],
  ["12", 12],
  [".5", 0.5],
  ["90s", 90],
  ["1500ms", 1.5],
  ["2000000us", 2],
  ["-3", null],
  ["N/A", null],
  [undefined, null],
])("the time %s is %s seconds", ([text, seconds]) => {
  expect(parseTime(text)).toBe(seconds)
})

test.for<[string, number | null]>([
  ["-i a.mp4 out.mp4", 100],
  ["-i a.mp4 -i b.mp4 out.mp4", 100],
  ["-i a.mp4 -i b.mp4 -shortest out.mp4", 40],
  ["-i a.mp4 -ss 30 -t 20 out.mp4", 20],
  ["-ss 30 -i a.mp4 out.mp4", 70],
  ["-ss 00:01:30 -i a.mp4 -t 20 out.mp4", 10],
  ["-ss 10 -to 25 -i a.mp4 out.mp4", 15],
  ["-i a.mp4 -to 1500ms out.mp4", 1.5],
  ["-i a.mp4 -t 5 one.mp4 -t 10 two.mp4", 10],
  ["-f lavfi -i testsrc2=size=64x36:duration=7 out.mp4", 7],
  ["-f lavfi -i color=d=3:c=red,scale=2:2 out.mp4", 3],
  ["-loop 1 -i picture.png -t 6 out.mp4", 6],
  ["-stream_loop -1 -i b.mp4 -i a.mp4 -shortest out.mp4", 100],
  ["-stream_loop -1 -i b.mp4 out.mp4", null],
  ["-i unknown.mp4 out.mp4", null],
])("%s makes %s seconds", ([command, seconds]) => {
  const lengths = new Map(Object.entries({ "a.mp4": 100, "b.mp4": 40 }))
  expect(expectedSeconds(command.split(" "), (name) => lengths.get(name) ?? null)).toBe(seconds)
})

test("progress is a fraction of what is expected, at most 1", () => {
  const reader = openProgressReader(["-i", "a.mp4", "out.mp4"], new Map([["a.mp4", 10]]))
  expect(reader.readProgress("frame=12")).toBeNull()
  expect(reader.readProgress("out_time_us=2500000")).toBe(0.25)
  expect(reader.readProgress("out_time=00:00:05.000000")).toBe(0.5)
  expect(reader.readProgress("out_time_us=99000000")).toBe(1)
  expect(reader.readProgress("out_time_us=N/A")).toBeNull()
  expect(reader.readProgress("progress=end")).toBe(1)
})

test("the length of an unknown input is read from what ffmpeg says", () => {
  const reader = openProgressReader(["-i", "a.mp4", "-t", "4", "out.mp4"], new Map())
  expect(reader.readProgress("out_time_us=1000000")).toBe(0.25)
  const other = openProgressReader(["-i", "a.mp4", "out.mp4"], new Map())
  expect(other.readProgress("out_time_us=1000000")).toBeNull()
  other.readStderr("Input #0, mov,mp4, from 'a.mp4':")
  other.readStderr("  Duration: 00:00:08.00, start: 0.000000, bitrate: 146 kb/s")
  expect(other.readProgress("out_time_us=2000000")).toBe(0.25)
})
