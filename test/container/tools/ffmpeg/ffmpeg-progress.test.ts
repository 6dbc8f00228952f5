import { expect, test } from "vitest"
import { createFfmpegProgressReader } from "../../../../container/tools/ffmpeg/ffmpeg-progress.ts"
import { parseFfmpegTime } from "../../../../src/ffmpeg/media-time.ts"

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
  expect(parseFfmpegTime(text)).toBe(seconds)
})

/** Returns a reader's progress for one report of ffmpeg. */
function read(
  command: string,
  lines: string[],
  { seconds, stderr = [] }: { seconds?: number; stderr?: string[] } = {},
) {
  const known = new Map(seconds === undefined ? [] : [["a.mp4", seconds] as const])
  const reader = createFfmpegProgressReader(command.split(" "), known)
  for (const line of stderr) reader.readStderr(line)
  for (const line of lines) expect(reader.readProgress(line)).toBeNull()
  const ended = reader.readProgress("progress=continue")
  expect(reader.readProgress("progress=end")?.fraction).toBe(1)
  return ended
}

test.for([
  ["out_time_us=2500000", 0.25],
  ["out_time=00:00:05.000000", 0.5],
  ["out_time_us=99000000", 1],
  ["out_time_us=N/A", null],
  ["frame=12", null],
] as const)("%s of 10 seconds is the fraction %s", ([line, fraction]) => {
  expect(read("-i a.mp4 out.mp4", [line], { seconds: 10 })?.fraction).toBe(fraction)
})

test.for<[string, string, number | null]>([
  ["-i a.mp4 -frames:v 50 out_%d.png", "frame=25", 0.5],
  ["-i a.mp4 -vframes 50 -t 8 out.mp4", "frame=10", 0.2],
  ["-i a.mp4 -fs 4000 out.mp4", "total_size=1000", 0.25],
  ["-i a.mp4 -frames:v 1 one.png two.mp4", "frame=1", null],
])("the limit of %s and the report %s give a fraction", ([command, line, fraction]) => {
  expect(read(command, [line])?.fraction).toBe(fraction)
})

test("progress of an unknown duration has frames, time, speed and size", () => {
  const lines = ["frame=12", "fps=24.9", "total_size=4096", "out_time_us=480000", "speed=1.52x"]
  expect(read("-i a.mp4 out.mp4", lines)).toEqual({
    fraction: null,
    detail: { frame: 12, time_seconds: 0.48, speed: 1.52, size_bytes: 4096 },
  })
  const nothing = ["total_size=N/A", "out_time_us=N/A", "out_time=N/A", "speed=N/A"]
  expect(read("-i a.mp4 -f null -", nothing)).toEqual({
    fraction: null,
    detail: { frame: null, time_seconds: null, speed: null, size_bytes: null },
  })
})

const FILM = [
  "Input #0, mov,mp4, from 'a.mp4':",
  "  Duration: 00:00:08.00, start: 0.000000, bitrate: 146 kb/s",
  "  Stream #0:0[0x1](und): Video: h264 (High), yuv420p, 160x120",
]

test.for<[string, string[], number | null]>([
  ["-i a.mp4 out.mp4", FILM, 0.25],
  ["-i a.mp4 -t 4 out.mp4", [], 0.5],
  ["-i a.mp4 -vf setpts=0.5*PTS out.mp4", FILM, null],
  // The duration of an output is not that of an input.
  ["-i a.mp4 out.mp4", ["Output #0, mp4, to 'a':", "  Duration: 00:00:08.00"], null],
])("progress of %s uses ffmpeg's description of its inputs", ([command, stderr, fraction]) => {
  expect(read(command, ["out_time_us=2000000"], { stderr })?.fraction).toBe(fraction)
})

test("a picture has no duration of its own", () => {
  const lines = ["out_time_us=1000000"]
  expect(read("-i a.mp4 out.mp4", lines, { seconds: 0.04 })?.fraction).toBeNull()
  expect(read("-loop 1 -i a.mp4 -t 4 out.mp4", lines, { seconds: 0.04 })?.fraction).toBe(0.25)
})
