import { describe, expect, test } from "vitest"
import { expectedSpan } from "../../../../container/tools/length/command.ts"
import { secondsOfList, secondsOfParts } from "../../../../container/tools/length/concat-list.ts"

const LENGTHS = new Map(Object.entries({ "a.mp4": 100, "b.mp4": 40 }))

function secondsOf(name: string): number | null {
  return LENGTHS.get(name) ?? null
}

/** How long what a command makes is; where it does not begin at 0, its begin and its end. */
function expectedOf(command: string): number | [number, number] | null {
  const span = expectedSpan(command.split(" "), (name) => ({
    seconds: secondsOf(name),
    streams: null,
  }))
  if (span === null) return null
  return span.start === 0 ? span.end : [span.start, span.end]
}

describe("the length of what a command makes, of a.mp4 of 100 seconds and b.mp4 of 40", () => {
  test.for<[string, number | null]>([
    ["-i a.mp4 out.mp4", 100],
    ["-i a.mp4 -i b.mp4 out.mp4", 100],
    ["-i a.mp4 -i b.mp4 -shortest out.mp4", 40],
    ["-i a.mp4 -i b.mp4 -map 1 out.mp4", 40],
    ["-i a.mp4 -i b.mp4 -map 0:v -map 1:a? -map -0:s -shortest out.mp4", 40],
    ["-i a.mp4 -ss 30 -t 20 out.mp4", 20],
    ["-i a.mp4 -ss 30 -to 45 out.mp4", 15],
    ["-ss 30 -i a.mp4 out.mp4", 70],
    ["-sseof -30 -i a.mp4 out.mp4", 30],
    ["-ss 00:01:30 -i a.mp4 -t 20 out.mp4", 10],
    ["-ss 10 -to 25 -i a.mp4 out.mp4", 15],
    ["-i a.mp4 -to 1500ms out.mp4", 1.5],
    ["-i a.mp4 -t 5 one.mp4 -t 10 two.mp4", 10],
    ["-itsoffset 5 -i a.mp4 -i b.mp4 -map 1:v -map 0:a out.mp4", 105],
    ["-i unknown.mp4 out.mp4", null],
    ["-i unknown.mp4 -t 7 out.mp4", 7],
    ["-i a.mp4 -i unknown.mp4 -map 1 out.mp4", null],
  ])("%s: %s seconds", ([command, seconds]) => {
    expect(expectedOf(command)).toBe(seconds)
  })

  test.for<[string, number | null]>([
    ["-stream_loop 2 -i b.mp4 out.mp4", 120],
    ["-stream_loop 2 -ss 10 -i b.mp4 -t 60 out.mp4", 60],
    ["-stream_loop -1 -i b.mp4 -i a.mp4 -shortest out.mp4", 100],
    ["-stream_loop -1 -t 50 -i b.mp4 out.mp4", 50],
    ["-stream_loop -1 -i b.mp4 out.mp4", null],
    ["-loop 1 -i picture.png -t 6 out.mp4", 6],
    ["-loop 1 -i picture.png -i b.mp4 -shortest out.mp4", 40],
    ["-ignore_loop 0 -i moving.gif -i b.mp4 -shortest out.mp4", 40],
  ])("with loops, %s: %s seconds", ([command, seconds]) => {
    expect(expectedOf(command)).toBe(seconds)
  })

  test.for<[string, number | null]>([
    ["-f lavfi -i testsrc2=size=64x36:duration=7 out.mp4", 7],
    ["-f lavfi -i color=d=3:c=red,scale=2:2 out.mp4", 3],
    ["-f lavfi -i sine=f=440 -t 4 out.wav", 4],
    ["-f lavfi -i anullsrc -i b.mp4 -shortest out.mp4", 40],
    ["-f lavfi -i testsrc2,trim=duration=5 out.mp4", 5],
    ["-f lavfi -i testsrc2=d=4[out0];sine=d=6[out1] out.mp4", 6],
    ["-filter_complex smptebars=d=9[v] -map [v] out.mp4", 9],
    ["-f lavfi -i testsrc2 out.mp4", null],
  ])("of sources, %s: %s seconds", ([command, seconds]) => {
    expect(expectedOf(command)).toBe(seconds)
  })
})

describe("the length of what filters make", () => {
  test.for<[string, number | [number, number] | null]>([
    ["scale=2:2,fps=10", 100],
    ["setpts=0.5*PTS", 50],
    ["setpts=PTS/4", 25],
    ["setpts=(PTS-STARTPTS)*(3/2)", 150],
    ["setpts=PTS-STARTPTS", 100],
    ["setpts=PTS-STARTPTS+5/TB", [5, 105]],
    ["setpts=N/FRAME_RATE/TB", 100],
    ["setpts=PTS+random(0)", null],
    ["trim=10:25", [10, 25]],
    ["trim=start=90:duration=20", [90, 100]],
    ["trim=start=10:end=25,setpts=PTS-STARTPTS", 15],
    ["trim=end_frame=30", null],
    ["select='between(t,10,20)'", [10, 20]],
    ["select='between(t,10,20)+between(t,60,75)',setpts=N/FRAME_RATE/TB", 25],
    ["select='not(between(t,10,20))',setpts=N/FRAME_RATE/TB", 90],
    ["select=gte(t\\,40)*lte(t\\,60)", [40, 60]],
    ["select='not(mod(n,10))'", 100],
    ["select='not(mod(n,10))',setpts=N/FRAME_RATE/TB", 10],
    ["select='gt(scene,0.3)'", 100],
    ["select='gt(scene,0.3)',setpts=N/FRAME_RATE/TB", null],
    ["tpad=stop_mode=clone:stop_duration=3", 103],
    ["tpad=stop=-1", null],
    ["loop=-1:1", null],
    ["[in]scale=2:2[out]", 100],
    ["movie=mark.png[m];[in][m]overlay", 100],
    ["drawtext=text='a, b; [c]':x=1,setpts=2*PTS", 200],
    ["not a graph", null],
  ])("-vf %s: %s", ([graph, expected]) => {
    const words = ["-i", "a.mp4", "-vf", graph, "-an", "out.mp4"]
    const span = expectedSpan(words, (name) => ({ seconds: secondsOf(name), streams: null }))
    const written = span && (span.start === 0 ? span.end : [span.start, span.end])
    expect(written).toEqual(expected)
  })

  test.for<[string, number | null]>([
    ["atempo=2.0", 50],
    ["atempo=2.0,atempo=1.25,volume=2", 40],
    ["rubberband=tempo=0.5", 200],
    ["asetrate=44100*1.25,aresample=44100", 80],
    ["adelay=2000|1500", 102],
    ["apad=pad_dur=5", 105],
    ["apad=whole_dur=130", 130],
    ["apad", null],
    ["silenceremove=1", null],
  ])("-af %s: %s seconds", ([graph, seconds]) => {
    const expected = expectedOf(`-i a.mp4 -vn -filter:a ${graph} out.mp3`)
    expect(expected).toBe(seconds)
  })

  test.for<[string, number | null]>([
    ["[0:v][0:a][1:v][1:a]concat=n=2:v=1:a=1[v][a] -map [v] -map [a]", 140],
    ["concat=n=2", 140],
    ["[0:v]trim=10:20,setpts=PTS-STARTPTS[x];[1:v]split[y][z];[x][y][z]concat=n=3[v] -map [v]", 90],
    ["[1:v][0:v]overlay=shortest=1 -an", 40],
    ["overlay -an", 100],
    ["[0:a][1:a]amix=inputs=2:duration=first -vn", 100],
    ["[1:a][0:a]amix=duration=first -vn", 40],
    ["amix=inputs=2:duration=shortest -vn", 40],
    ["[0:v][1:v]xfade=transition=fade:duration=2:offset=98,format=yuv420p[v] -map [v]", 138],
    ["[0:a][1:a]acrossfade=d=3[a] -map [a]", 137],
    ["[0:v]setpts=0.5*PTS[v];[0:a]atempo=2[a] -map [v] -map [a]", 50],
    // Its sound is taken as it is.
    ["[0:v]setpts=0.5*PTS[v] -map [v] -map 0:a", 100],
    ["[0:v]split[a][b];[a]palettegen[p];[b][p]paletteuse[v] -map [v]", 100],
    ["[0:v]palettegen[p] -map [p]", null],
    ["[b]scale=2:2[a];[a]scale=3:3[b] -map [b]", null],
    ["[0:v]scale=2:2[v] -map [w]", null],
  ])("-filter_complex %s: %s seconds", ([graph, seconds]) => {
    expect(expectedOf(`-i a.mp4 -i b.mp4 -filter_complex ${graph} out.mp4`)).toBe(seconds)
  })
})

test.for<[string, number | null]>([
  ["file a.mp4\nfile 'b.mp4'\n", 140],
  ["ffconcat version 1.0\nfile ./b.mp4\r\ninpoint 5\noutpoint 15\nfile 'file:b.mp4'", 50],
  ["# a comment\nfile c.mp4\nduration 00:00:07\nfile b.mp4", 47],
  ["file a.mp4\nfile c.mp4", null],
  ["", null],
])("the concat list %j lasts %s seconds", ([text, seconds]) => {
  expect(secondsOfList(text, secondsOf)).toBe(seconds)
})

test.for<[string, number | null]>([
  ["concat:a.mp4|b.mp4", 140],
  ["concat:a.mp4|c.mp4", null],
  ["a.mp4", null],
])("the input %s lasts %s seconds", ([word, seconds]) => {
  expect(secondsOfParts(word, secondsOf)).toBe(seconds)
})
