import { describe, expect, test } from "vitest"
import { replaceFileKeysByNames } from "../../src/ffmpeg/file-keys.ts"
import { findFileKeysInCommand } from "../../src/kinds/command/keys.ts"
import { splitWords } from "../../src/kinds/command/lines.ts"

const NAMES = new Map(
  Object.entries({
    in_1: "in_1.mp4",
    in_2: "in_2.srt",
    in_10: "in_10.wav",
    out_1: "out.mp4",
    copy: "copy.mp4",
    fast: "fast.mp4",
    hflip: "hflip.png",
    libx264: "libx264.mp4",
    logo: "logo.png",
    mp4: "mp4.mov",
    print: "print.log",
    testsrc: "testsrc.png",
  }),
)

function wordsOf(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return split.words
}

function fill(line: string): string {
  return replaceFileKeysByNames(wordsOf(line), NAMES).join(" ")
}

describe("placeholders", () => {
  test.for<[string, string]>([
    ["-i {{in_1}} {{out_1}}", "-i in_1.mp4 out.mp4"],
    ["-i {{ in_1 }} out_1", "-i in_1.mp4 out.mp4"],
    [String.raw`-i '\{\{in_1\}\}'`, "-i in_1.mp4"],
    [String.raw`-i \{\{in_1\}\}`, "-i in_1.mp4"],
    ["concat:{{in_1}}|{{in_10}}", "concat:in_1.mp4|in_10.wav"],
    ["-vf drawtext=text={{logo}}", "-vf drawtext=text=logo.png"],
    ["-metadata title={{in_1}}", "-metadata title=in_1.mp4"],
    ["-preset {{fast}}", "-preset fast.mp4"],
    ["-i {{in_3}}", "-i {{in_3}}"],
  ])("%s", ([line, words]) => {
    expect(fill(line)).toBe(words)
  })
})

describe("a bare key is replaced where a file belongs", () => {
  test.for<[string, string]>([
    ["-i in_1 out_1", "-i in_1.mp4 out.mp4"],
    ["-i in_10", "-i in_10.wav"],
    ["-i mp4 -c copy -f mp4 copy", "-i mp4.mov -c copy -f mp4 copy.mp4"],
    ["-i in_1 -preset fast fast -t 1 logo", "-i in_1.mp4 -preset fast fast.mp4 -t 1 logo.png"],
    ["-y -- copy", "-y -- copy.mp4"],
    ["-attach logo out_1", "-attach logo.png out.mp4"],
    ["-pass 1 -passlogfile print -f null -", "-pass 1 -passlogfile print.log -f null -"],
    ["-f hls -hls_segment_filename copy out_1", "-f hls -hls_segment_filename copy.mp4 out.mp4"],
    ["-vf subtitles=in_2", "-vf subtitles=in_2.srt"],
    ["-vf subtitles=in_2:fontsdir=.", "-vf subtitles=in_2.srt:fontsdir=."],
    ["-vf subtitles='in_2'", "-vf subtitles=in_2.srt"],
    [`-vf "subtitles='in_2'"`, "-vf subtitles='in_2.srt'"],
    [String.raw`-vf "subtitles=\'in_2\'"`, String.raw`-vf subtitles=\'in_2.srt\'`],
    ["-vf subtitles=filename=in_2:force_style=x", "-vf subtitles=filename=in_2.srt:force_style=x"],
    ["-vf 'subtitles = in_2 , hflip'", "-vf subtitles = in_2.srt , hflip"],
    ["-vf subtitles@a=in_2", "-vf subtitles@a=in_2.srt"],
    ["-vf [in]subtitles=in_2[out]", "-vf [in]subtitles=in_2.srt[out]"],
    [
      "-filter_complex movie=in_1[w];[0][w]overlay",
      "-filter_complex movie=in_1.mp4[w];[0][w]overlay",
    ],
    ["-filter_complex movie=hflip,hflip", "-filter_complex movie=hflip.png,hflip"],
    ["-filter:v movie=logo,hflip", "-filter:v movie=logo.png,hflip"],
    ["-f lavfi -i movie=in_1:loop=0", "-f lavfi -i movie=in_1.mp4:loop=0"],
    ["-vf drawtext=fontfile=logo:text=logo", "-vf drawtext=fontfile=logo.png:text=logo"],
    ["-vf drawtext=textfile=in_2", "-vf drawtext=textfile=in_2.srt"],
    ["-vf metadata=print:file=print", "-vf metadata=print:file=print.log"],
    ["-vf metadata=print:key=print", "-vf metadata=print:key=print"],
    ["-lavfi libvmaf=model=path=print", "-lavfi libvmaf=model=path=print.log"],
    [
      "-lavfi libvmaf=model='version=a|path=print'",
      "-lavfi libvmaf=model=version=a|path=print.log",
    ],
    [
      "-lavfi libvmaf=log_path=print:log_fmt=json",
      "-lavfi libvmaf=log_path=print.log:log_fmt=json",
    ],
  ])("%s", ([line, words]) => {
    expect(fill(line)).toBe(words)
  })
})

describe("a bare key is kept in every other place", () => {
  test.for([
    "-metadata title=in_1",
    "-metadata in_1",
    "-preset fast",
    "-f mp4",
    "-c:v copy",
    "-codec copy",
    "-vcodec libx264",
    "-map in_1",
    "-map [in_1]",
    "-f lavfi -i testsrc",
    "-f LAVFI -i testsrc=d=1,hflip",
    "-vf hflip",
    "-vf [in_1]hflip",
    "-vf drawtext=text=logo",
    "-vf drawtext=text=logo:x=1",
    "-vf drawtext=text='logo'",
    "-vf drawtext=x=1:text=logo",
    "-vf subtitles=x.srt:force_style=logo",
    "-vf subtitles=x.srt:charenc=logo",
    "-vf scale=flags=fast",
    "-vf metadata=add:key=logo:value=logo",
    "-vf movie=x.png:format_name=mp4",
    "-x264-params preset=fast",
    "-i xin_1",
    "-i in_1x",
    "-vf subtitles=in_2x",
    "-vf subtitles=x.srt:in_2",
  ])("%s", (line) => {
    expect(fill(line)).toBe(wordsOf(line).join(" "))
  })
})

test("the keys of a command are divided into declared and undeclared ones", () => {
  const words = wordsOf("-i {{in_1}} -i in_7 -vf subtitles=in_2,movie=in_8 {{out_9}}")
  expect(findFileKeysInCommand(words, new Set(["in_1", "in_2", "in_3"]))).toEqual({
    known: new Set(["in_1", "in_2"]),
    unknown: new Set(["in_7", "in_8", "out_9"]),
  })
})

test("a key in a place of no file is not named, whether it is declared or not", () => {
  const words = wordsOf(
    "-i in_1 -metadata title=in_2 -preset in_3 -passlogfile out_7 -vf drawtext=text=in_8 out_1",
  )
  expect(findFileKeysInCommand(words, new Set(["in_1", "in_2", "in_3", "out_1"]))).toEqual({
    known: new Set(["in_1", "out_1"]),
    unknown: new Set(),
  })
})
