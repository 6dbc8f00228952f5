import { execFile } from "node:child_process"
import { copyFile, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parseGraphFilters } from "../../../src/ffmpeg/graph-filters.ts"
import { askWords, wordsOf } from "./ask.ts"

const run = promisify(execFile)
const FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-policy-"))
  await ffmpeg(
    "-f lavfi -i testsrc2=s=64x64:r=10:d=1 -f lavfi -i sine=d=1 -c:v libx264 -g 5 -c:a aac in_1.mp4".split(
      " ",
    ),
  )
  await ffmpeg("-f lavfi -i testsrc2=s=16x16:d=1 -frames:v 1 in_pic.png".split(" "))
  await writeFile(join(folder, "in_2.srt"), "1\n00:00:00,000 --> 00:00:01,000\nHello\n")
  await writeFile(join(folder, "in_text.txt"), "From a file")
  await writeFile(join(folder, "in_list.txt"), "file 'in_1.mp4'\nfile 'in_1.mp4'\n")
  await writeFile(join(folder, "in_meta.txt"), ";FFMETADATA1\ntitle=A title\n")
  await copyFile(FONT, join(folder, "in_font.ttf"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function ffmpeg(words: readonly string[]) {
  const argv = ["-y", "-nostdin", "-hide_banner", "-v", "error", ...words]
  await run("ffmpeg", argv, { cwd: folder })
}

/** Command lines that the policy allows, each with a file that it writes. */
const WORK: [string, string][] = [
  [
    "-i in_1 -vf \"drawtext=text='http\\://a.example 50%% /etc ~ ../':x=(w-tw)/2\" text.mp4",
    "text.mp4",
  ],
  ["-i in_1 -vf drawtext=fontfile=in_font:textfile=in_text file.mp4", "file.mp4"],
  [
    "-i in_1 -vf \"subtitles=in_2:fontsdir=.:force_style='FontName=DejaVu Sans,FontSize=24'\" sub.mp4",
    "sub.mp4",
  ],
  ["-f concat -safe 0 -i in_list -c copy long.mp4", "long.mp4"],
  [
    "-i in_1 -i in_meta -i in_pic -map 0 -map 2 -map_metadata 1 -c copy -disposition:v:1 attached_pic cover.mp4",
    "cover.mp4",
  ],
  ["-i in_1 -attach in_font -metadata:s:t mimetype=font/ttf -c copy fonts.mkv", "fonts.mkv"],
  ["-i in_1 -c:v libx264 -b:v 50k -pass 1 -passlogfile mylog -an -f null /dev/null", "mylog-0.log"],
  ["-i in_1 -c:v libx264 -x264-params pass=1:stats=x264.log:keyint=60 -an -f null -", "x264.log"],
  [
    "-i in_1 -map 0 -c copy -f tee '[f=mp4:movflags=+faststart]tee.mp4|[f=matroska:select=v]tee.mkv'",
    "tee.mkv",
  ],
  [
    "-i in_1 -map 0 -c copy -f hls -hls_time 0.5 -hls_segment_filename seg_%03d.ts -hls_enc 1 -hls_enc_key 00112233445566778899aabbccddeeff -hls_enc_iv 00112233445566778899aabbccddeeff -hls_enc_key_url enc.key -hls_base_url https://cdn.example/ list.m3u8",
    "seg_000.ts",
  ],
  [
    "-i in_1 -map 0 -c copy -f dash -init_seg_name 'init-$RepresentationID$.m4s' list.mpd",
    "init-0.m4s",
  ],
  ["-i in_1 -map 0 -c copy -f segment -segment_list parts.m3u8 part%d.ts", "parts.m3u8"],
  ["-i in_1 -vf metadata=mode=print:file=frames.log -f null -", "frames.log"],
  ["-i in_1 -i in_1 -lavfi [0:v][1:v]psnr=stats_file=psnr.log -f null -", "psnr.log"],
  ["-f lavfi -i 'movie=in_1[out0];movie=in_pic[out1]' -map 0:0 -map 0:1 two.mkv", "two.mkv"],
  [
    "-i in_1 -vf \"sendcmd=c='0.2 drawtext reinit text=Bye',drawtext=text=Hello\" said.mp4",
    "said.mp4",
  ],
]

describe("ffmpeg runs what the policy allows", () => {
  test.for(WORK)("%s", async ([line, made]) => {
    const words = wordsOf(line)
    expect(askWords(words)).toEqual([])
    await ffmpeg(words)
    expect(await readdir(folder)).toContain(made)
  })
})

/** Spellings of a value inside a graph that ffmpeg and the policy must read alike. */
const SPELLINGS = [
  "plain",
  String.raw`a\\\:b`,
  String.raw`'a\:b'`,
  String.raw`a'b'c`,
  String.raw`'it'\\\''s'`,
  String.raw`a\\\\b`,
  String.raw`'a\\b'`,
  String.raw`a\ `,
  String.raw`'a '`,
  String.raw`\ a`,
  "  a  ",
  String.raw`\/\e\t\c`,
  String.raw`'[a],;b'`,
  String.raw`\[a\]\,\;b`,
  String.raw`a\\'b'`,
  String.raw`''a''`,
  String.raw`a=b`,
  String.raw`'a\'b`,
  String.raw`'a'\\\\'b'`,
]

test("the values of a graph are unescaped as in ffmpeg", async () => {
  const filters = SPELLINGS.map((value, index) => `metadata=add:key=k${index}:value=${value}`)
  const graph = [...filters, "metadata=print:file=values.log"].join(",")
  const source = "-f lavfi -i color=s=16x16:d=0.04:r=25 -vf".split(" ")
  await ffmpeg([...source, graph, "-f", "null", "-"])
  const log = await readFile(join(folder, "values.log"), "utf8")
  const printed = SPELLINGS.map((_, index) => new RegExp(`^k${index}=(.*)$`, "m").exec(log)?.[1])
  const read = parseGraphFilters(graph).map(({ options }) => options.at(-1)?.value)
  expect(read.slice(0, SPELLINGS.length)).toEqual(printed)
})
