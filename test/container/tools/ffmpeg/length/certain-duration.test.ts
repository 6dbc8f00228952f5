import { describe, expect, test } from "vitest"
import { computeCertainOutputSeconds } from "../../../../../container/tools/ffmpeg/length/certain-duration.ts"

const LENGTHS = new Map(Object.entries({ "a.mp4": 100, "b.mp4": 40, "b2.mp4": 41 }))

function expectedOf(command: string): number | null {
  return computeCertainOutputSeconds(command.split(" "), (name) => LENGTHS.get(name) ?? null)
}

describe("the certain duration of a command's output, for a.mp4 of 100 seconds and b.mp4 of 40", () => {
  test.for<[string, number | null]>([
    ["-i a.mp4 out.mp4", 100],
    ["-i a.mp4 -i b.mp4 out.mp4", null],
    ["-i b.mp4 -i b2.mp4 -map 0:v -map 1:a out.mp4", 41],
    ["-i a.mp4 -i b.mp4 -shortest out.mp4", 40],
    ["-i a.mp4 -i b.mp4 -map 1 out.mp4", 40],
    ["-i a.mp4 -i picture.png -filter_complex overlay=5:5 out.mp4", 100],
    ["-i a.mp4 -ss 30 -t 20 out.mp4", 20],
    ["-i a.mp4 -ss 30 -to 45 out.mp4", 15],
    ["-i b.mp4 -t 60 out.mp4", 40],
    ["-ss 30 -i a.mp4 out.mp4", 70],
    ["-sseof -30 -i a.mp4 out.mp4", 30],
    ["-ss 00:01:30 -i a.mp4 -t 20 out.mp4", 10],
    ["-ss 10 -to 25 -i a.mp4 out.mp4", 15],
    ["-i a.mp4 -to 1500ms out.mp4", 1.5],
    ["-i a.mp4 -t 5 one.mp4 -t 10 two.mp4", 10],
    ["-i unknown.mp4 out.mp4", null],
    ["-i unknown.mp4 -t 7 out.mp4", 7],
    ["-i unknown.mp4 -i a.mp4 -map 0 out.mp4", null],
  ])("%s: %s seconds", ([command, seconds]) => {
    expect(expectedOf(command)).toBe(seconds)
  })

  test.for<[string, number | null]>([
    ["-stream_loop 2 -i b.mp4 out.mp4", 120],
    ["-stream_loop -1 -i b.mp4 -i a.mp4 -shortest out.mp4", 100],
    ["-stream_loop -1 -t 50 -i b.mp4 out.mp4", 50],
    ["-stream_loop -1 -i b.mp4 out.mp4", null],
    ["-loop 1 -i picture.png -t 6 out.mp4", 6],
    ["-loop 1 -i picture.png -i b.mp4 -shortest out.mp4", 40],
    ["-f lavfi -i testsrc2=size=64x36:duration=7 out.mp4", 7],
    ["-f lavfi -i sine=f=440 -t 4 out.wav", 4],
    ["-f lavfi -i anullsrc -i b.mp4 -shortest out.mp4", 40],
    ["-f lavfi -i testsrc2 out.mp4", null],
    ["-i concat:a.mp4|b.mp4 out.mp4", null],
    ["-f concat -i a.mp4 out.mp4", null],
  ])("with loops and sources, %s: %s seconds", ([command, seconds]) => {
    expect(expectedOf(command)).toBe(seconds)
  })

  test.for<[string, number | null]>([
    ["-vf scale=2:2,fps=10", 100],
    ["-vf setpts=PTS-STARTPTS", 100],
    ["-af asetpts=PTS+0.0065/TB", 100],
    ["-vf setpts=PTS+5/TB", null],
    ["-vf setpts=0.5*PTS", null],
    ["-vf setpts=0.5*PTS -t 8", 8],
    ["-vf trim=10:25", null],
    ["-vf select=not(mod(n\\,10))", null],
    ["-af volume=2,atempo=2.0", null],
    ["-af apad", null],
    ["-af apad -t 20", 20],
    ["-filter_complex [0:v]split[a][b];[a][b]hstack", 100],
    ["-filter_complex [0:v][0:v]concat", null],
    ["-/filter_complex graph.txt", null],
  ])("with the filters %s: %s seconds", ([filters, seconds]) => {
    expect(expectedOf(`-i a.mp4 ${filters} out.mp4`)).toBe(seconds)
  })
})
