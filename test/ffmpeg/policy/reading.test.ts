import { describe, expect, test } from "vitest"
import { parseFfmpegCommand } from "../../../src/ffmpeg/command-line.ts"
import { parseGraphFilters } from "../../../src/ffmpeg/graph-filters.ts"
import { askWords } from "./ask.ts"
import { measureCpuMs } from "../../support/processor-time.ts"

describe("a command is parsed as in ffmpeg", () => {
  test("options belong to the next file, flags take no value, and names have no stream specifier", () => {
    const words = "-y -ss 1 -i a.mp4 -an -c:v copy -noautorotate b.mp4 -- -c.mp4 -t 1".split(" ")
    expect(parseFfmpegCommand(words)).toEqual({
      files: [
        {
          kind: "input",
          word: "a.mp4",
          options: [
            { word: "-y", name: "y", value: null, at: 0 },
            { word: "-ss", name: "ss", value: "1", at: 2 },
          ],
          at: 4,
        },
        {
          kind: "output",
          word: "b.mp4",
          options: [
            { word: "-an", name: "an", value: null, at: 5 },
            { word: "-c:v", name: "c", value: "copy", at: 7 },
            { word: "-noautorotate", name: "noautorotate", value: null, at: 8 },
          ],
          at: 9,
        },
        { kind: "output", word: "-c.mp4", options: [], at: 11 },
      ],
      trailing: [{ word: "-t", name: "t", value: "1", at: 13 }],
      incompleteOption: null,
    })
  })

  test.for<[string, string[]]>([
    ["-i - -f null -", ["input -", "output -"]],
    ["-metadata -- -i a b", ["input a", "output b"]],
    ["-i -i a", ["input -i", "output a"]],
    ["-i a -dec 0:0 b", ["input a", "decoder 0:0", "output b"]],
    ["-i:0 a b", ["output b"]],
  ])("%s", ([line, files]) => {
    const read = parseFfmpegCommand(line.split(" ")).files
    expect(read.map(({ kind, word }) => `${kind} ${word}`)).toEqual(files)
  })
})

describe("a graph is unescaped twice, as in ffmpeg", () => {
  test.for<[string, string[]]>([
    ["hflip", ["hflip"]],
    [" [a] [b] overlay = 1 : y=2 [c] ; [c]null", ["overlay 1 y=2", "null"]],
    [String.raw`drawtext@x=te\xt=a\:b:x=1`, ["drawtext text=a b x=1"]],
    [String.raw`drawtext=text='a\:b':x=1`, ["drawtext text=a:b x=1"]],
    [String.raw`drawtext=text=a\\:b:x=1`, ["drawtext text=a:b x=1"]],
    [String.raw`drawtext=text='it'\\\''s, [ok]; a=b'`, ["drawtext text=it's, [ok]; a=b"]],
    ["['a]'b]movie=x", ["movie x"]],
    ["sws_flags=a=b,movie=y;movie=x", ["movie x"]],
    ["scale=iw/2:-1,setpts=PTS/1.5", ["scale iw/2 -1", "setpts PTS/1.5"]],
    [String.raw`movie=a\ `, ["movie a"]],
    [String.raw`movie='a '`, ["movie a"]],
    [String.raw`movie=a\\ `, ["movie a\\"]],
    ["[never closed", []],
    ["movie='never closed", ["movie never closed"]],
    [";;,,hflip", ["hflip"]],
    ["", []],
  ])("%s", ([text, filters]) => {
    const read = parseGraphFilters(text).map(({ name, options }) =>
      [
        name,
        ...options.map((pair) => (pair.name === null ? "" : `${pair.name}=`) + pair.value),
      ].join(" "),
    )
    expect(read).toEqual(filters)
  })
})

describe("a long value inside a graph is judged within milliseconds", () => {
  const length = 60 * 1024

  test.for([
    ["space before a name", `scale=1:${" ".repeat(length)}x`],
    ["space behind a name", `scale=1:x${" ".repeat(length)}y`],
    ["space in commands", `sendcmd=c='0 x filename${" ".repeat(length)}'`],
    ["options in options", `movie=in.mp4:format_opts=${"format_opts=".repeat(length / 12)}a=b`],
    ["a folder of fonts", `subtitles=a.srt:fontsdir=/usr/share/fonts${"/a".repeat(length / 2)}:`],
  ] as const)("%s", async ([, graph]) => {
    const words = ["-i", "in.mp4", "-vf", graph, "-format_opts", graph, "out.mp4"]
    expect(await measureCpuMs(() => askWords(words))).toBeLessThan(1000)
  })
})

describe("a line of the maximum length is judged within milliseconds", () => {
  const length = 64 * 1024

  test.for([
    "a",
    " ",
    "'",
    "\\",
    "[",
    "[a]",
    ":",
    "=",
    "/",
    "a=b:",
    "movie=/x,",
    "file ",
    "'a'",
    "x:",
    "..",
    "%d",
    "|",
  ])("%j repeated", async (part) => {
    const long = part.repeat(Math.floor(length / part.length))
    const tookMs = await measureCpuMs(() => {
      for (const option of ["-vf", "-x264-params", "-any_option", "-format_opts", "-f tee"]) {
        askWords(["-i", long, ...option.split(" "), long, "out.mp4"])
      }
      askWords(["-i", "in_1.mp4", "-vf", `sendcmd=c='file${long}',movie=a${long}b`, "out.mp4"])
    })
    expect(tookMs).toBeLessThan(2000)
  })

  test("a response has at most a hundred refusals", () => {
    const graph = "movie=/x,".repeat(500)
    expect(askWords(["-i", "in_1.mp4", "-vf", graph, "out.mp4"])).toHaveLength(100)
  })
})
