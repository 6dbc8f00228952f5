import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findFont, makeMedia } from "./fixtures.ts"

/** A real file, and the end of its probe: a probe, no media, or the sentence of a failure. */
export type DataFile = { name: string; bytes: Buffer; end: "probe" | "not_media" | RegExp }

const PICTURE = "-f lavfi -i testsrc2=s=160x120:r=10:d=2"
const TONE = "-f lavfi -i sine=d=2"
const MOVIE = `${PICTURE} ${TONE} -c:v libx264 -c:a aac`

/** Media by name, and the arguments of ffmpeg that make them. */
const MEDIA = {
  "whole.mp4": MOVIE,
  "fast.mp4": `${MOVIE} -movflags +faststart`,
  "whole.webm": `${PICTURE} -c:v libvpx`,
  "tone.mp3": TONE,
  "tone.ogg": TONE,
  "tone.wav": TONE,
  "large.png": "-f lavfi -i testsrc2=s=640x480 -frames:v 1",
  "picture.png": "-f lavfi -i testsrc2=s=160x120 -frames:v 1",
  "picture.jpg": "-f lavfi -i testsrc2=s=160x120 -frames:v 1",
  "s16.raw": `${TONE} -f s16le`,
  "f32.raw": `${TONE} -f f32le`,
  "silence.raw": "-f lavfi -i anullsrc -t 1 -f s16le",
  "yuv.raw": `${PICTURE} -pix_fmt yuv420p -f rawvideo`,
  "rgb.raw": `${PICTURE} -pix_fmt rgb24 -f rawvideo`,
}

const CUBE = "LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n"
const SRT = "1\n00:00:00,000 --> 00:00:01,000\nHello\n\n"
const VTT = "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n"
const ASS =
  "[Script Info]\nScriptType: v4.00+\n\n[Events]\nFormat: Layer, Start, End, Style, Text\nDialogue: 0,0:00:00.00,0:00:01.00,Default,Hello\n"
const HTML = "<!DOCTYPE html>\n<html><head><title>404</title></head><body>Gone.</body></html>\n"
const TEXT = "Plain words, over\nsome lines.\n"
const PLAYLIST = "#EXTM3U\n#EXTINF:1,\nsegment.ts\n"
const PDF = "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
/** An archive without members. */
const ZIP = Buffer.concat([Buffer.from("PK\x05\x06"), Buffer.alloc(18)])

/** Texts that are no media, by name. */
const DATA_TEXTS = {
  "look.cube": CUBE,
  "list.txt": "file 'in_1.mp4'\nfile 'in_2.mp4'\n",
  "list.ffconcat": "ffconcat version 1.0\nfile in_1.mp4\n",
  "words.txt": TEXT,
  words: TEXT,
  "data.json": '{"cues": [1, 2, 3]}\n',
  "table.csv": "a,b\n1,2\n3,4\n",
  "page.html": HTML,
  "paper.pdf": PDF,
}

/** Texts that ffprobe reads as subtitles. */
const SUBTITLES = { "words.srt": SRT, "words.vtt": VTT, "words.ass": ASS }

const TEXT_END = /^The file is text, not media\. Upload the media itself\.$/
const PAGE_END = /^The file is a web page \(HTML\), not media\. Upload the media itself\.$/
const LIST_END =
  /^The file is not media: it is a list of other files \(hls\), which are not opened\./
const INDEX_END = /^The file is cut off: its index \(moov atom\) is missing\. Upload it again\.$/
const CUT_END = /^The file is cut off: it ends before its media do\. Upload it again\.$/
const BROKEN_END =
  /^The file cannot be read as media: .+\. Upload it again, or in another format\.$/

/** Texts under a name or with first bytes of media. */
const DISGUISED_TEXTS: [name: string, text: string, end: RegExp][] = [
  ["words.mp4", TEXT, TEXT_END],
  ["words.mp3", TEXT, TEXT_END],
  ["video.mp4", HTML, PAGE_END],
  ["picture.jpg", HTML, PAGE_END],
  ["stream.m3u8", PLAYLIST, LIST_END],
]

/** Makes files of many kinds: data, subtitles, and media that are cut or under other names. */
export async function makeDataFiles(): Promise<DataFile[]> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-data-"))
  await makeMedia(folder, {}, Object.entries(MEDIA))
  async function read(name: keyof typeof MEDIA): Promise<Buffer> {
    return await readFile(join(folder, name))
  }
  async function cut(name: keyof typeof MEDIA, share: number): Promise<Buffer> {
    const bytes = await read(name)
    return bytes.subarray(0, Math.ceil(bytes.length * share))
  }
  const ends: [name: string, bytes: Buffer, end: DataFile["end"]][] = [
    ["font.ttf", await readFile(await findFont()), "not_media"],
    ["sound.raw", await read("s16.raw"), "not_media"],
    ["sound.pcm", await read("s16.raw"), "not_media"],
    ["sound.s16le", await read("s16.raw"), "not_media"],
    ["sound.bin", await read("s16.raw"), "not_media"],
    ["sound", await read("s16.raw"), "not_media"],
    ["float.raw", await read("f32.raw"), "not_media"],
    ["silence.pcm", await read("silence.raw"), "not_media"],
    ["frames.yuv", await read("yuv.raw"), "not_media"],
    ["frames.rgb", await read("rgb.raw"), "not_media"],
    ["archive.zip", ZIP, "not_media"],
    ["zeros.bin", Buffer.alloc(5000), "not_media"],
    ["whole.mp4", await read("whole.mp4"), "probe"],
    ["fast.mp4", await cut("fast.mp4", 0.5), "probe"],
    ["half.png", await cut("large.png", 0.5), "probe"],
    ["half.mp3", await cut("tone.mp3", 0.5), "probe"],
    ["half.wav", await cut("tone.wav", 0.5), "probe"],
    ["half.mp4", await cut("whole.mp4", 0.5), INDEX_END],
    ["half", await cut("whole.mp4", 0.5), INDEX_END],
    ["head.mp4", (await read("whole.mp4")).subarray(0, 100), INDEX_END],
    ["index.mp4", (await read("fast.mp4")).subarray(0, 200), BROKEN_END],
    ["small.png", await cut("picture.png", 0.5), CUT_END],
    ["half.ogg", await cut("tone.ogg", 0.5), CUT_END],
    ["head.webm", (await read("whole.webm")).subarray(0, 200), CUT_END],
    ["head.mp3", (await read("tone.mp3")).subarray(0, 20), CUT_END],
    ["head.jpg", (await read("picture.jpg")).subarray(0, 10), BROKEN_END],
    ["head.png", (await read("picture.png")).subarray(0, 20), CUT_END],
    ["zeros.mp4", Buffer.alloc(5000), BROKEN_END],
  ]
  await rm(folder, { recursive: true })
  const texts = [
    ...Object.entries(DATA_TEXTS).map(([name, text]) => [name, text, "not_media"] as const),
    ...Object.entries(SUBTITLES).map(([name, text]) => [name, text, "probe"] as const),
    ...DISGUISED_TEXTS,
  ]
  return [
    ...ends.map(([name, bytes, end]) => ({ name, bytes, end })),
    ...texts.map(([name, text, end]) => ({ name, bytes: Buffer.from(text), end })),
  ]
}
