import { execFile } from "node:child_process"
import { readFile, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { splitWords } from "../../src/kinds/command/lines.ts"

const run = promisify(execFile)

const PICTURE = "-f lavfi -i testsrc2=s=160x120:r=10:d=2"
const TONE = "-f lavfi -i sine=f=440:r=44100:d=2"
const QUICK = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac"
const CARD = "-f lavfi -i color=c"

/** Media, each made by ffmpeg with these words, in order: later ones may read earlier ones. */
const MADE: Record<string, string> = {
  "clip.mp4": `${PICTURE} ${TONE} -g 5 ${QUICK}`,
  "tall.mov": `-f lavfi -i testsrc=s=120x160:r=10:d=1 -f lavfi -i sine=f=880:d=1 ${QUICK}`,
  "silent.mp4": `${PICTURE} ${QUICK}`,
  "one.ts": `-f lavfi -i testsrc2=s=160x120:r=10:d=1 -f lavfi -i sine=d=1 ${QUICK}`,
  "two.ts": `-f lavfi -i testsrc=s=160x120:r=10:d=1 -f lavfi -i sine=f=880:d=1 ${QUICK}`,
  "dark.mp4": `${CARD}=black:s=160x120:r=10:d=1 ${QUICK}`,
  "green.mp4": `${CARD}=0x00ff00:s=160x120:r=10:d=1 ${QUICK}`,
  "old.avi": `${PICTURE} ${TONE} -c:v mpeg4 -c:a libmp3lame`,
  "tone.wav": `${TONE} -ac 2`,
  "music.mp3": `${TONE} -ac 2 -metadata title=Sonata -metadata artist=Nobody`,
  "pauses.wav": "-f lavfi -i aevalsrc='if(lt(mod(t\\,1)\\,0.4)\\,0.5*sin(2000*t)\\,0)':s=16000:d=2",
  "surround.wav":
    "-f lavfi -i anoisesrc=d=1:a=0.3:r=48000 -af pan=5.1|FL=c0|FR=c0|FC=c0|LFE=c0|BL=c0|BR=c0",
  "photo.jpg": "-f lavfi -i testsrc2=s=320x240 -frames:v 1",
  "scene.png": "-f lavfi -i mandelbrot=s=160x120 -frames:v 1",
  "white.png": `${CARD}=white:s=160x120 -frames:v 1`,
  "logo.png": `${CARD}=white@0.9:s=40x30,format=rgba -frames:v 1`,
  "film.mkv":
    "-i clip.mp4 -i tone.wav -i words.srt -map 0 -map 1 -map 2 -c:v copy -c:a aac -c:s srt -metadata:s:a:0 language=eng -metadata:s:a:1 language=deu -metadata:s:s:0 language=fre",
  "covered.mp3": "-i music.mp3 -i photo.jpg -map 0 -map 1 -c copy -id3v2_version 3",
}

const WORDS = "The quick brown fox"

const TEXTS: Record<string, string> = {
  "words.srt": `1\n00:00:00,000 --> 00:00:01,900\n${WORDS}\n`,
  "words.vtt": `WEBVTT\n\n00:00.000 --> 00:01.900\n${WORDS}\n`,
  "words.ass": [
    "[Script Info]\nScriptType: v4.00+\nPlayResX: 160\nPlayResY: 120\n\n[V4+ Styles]",
    "Format: Name, Fontname, Fontsize, PrimaryColour, Alignment",
    "Style: Default,Sans,40,&H00FFFFFF,5\n\n[Events]",
    "Format: Layer, Start, End, Style, Text",
    `Dialogue: 0,0:00:00.00,0:00:02.00,Default,${WORDS}\n`,
  ].join("\n"),
  "text.txt": 'Grüße: 100% "sicher" – it\'s fine\n',
  "list.txt": "ffconcat version 1.0\nfile in_1.mp4\nfile in_2.mp4\n",
  "slides.txt": "file 'in_1.png'\nduration 1\nfile 'in_2.png'\nduration 1\n",
  "chapters.txt":
    ";FFMETADATA1\ntitle=Two chapters\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=First\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=1000\nEND=2000\ntitle=Second\n",
  "invert.cube": "LUT_3D_SIZE 2\n1 1 1\n0 1 1\n1 0 1\n0 0 1\n1 1 0\n0 1 0\n1 0 0\n0 0 0\n",
}

/** Makes every fixture in a folder; answers the path of one by its name. */
export async function makeFixtures(folder: string): Promise<(name: string) => string> {
  await writeFile(join(folder, "font.ttf"), await readFile(await findFont()))
  await makeMedia(folder, TEXTS, Object.entries(MADE))
  return (name) => join(folder, name)
}

/** Writes texts into a folder, and media that ffmpeg makes of words, in their order. */
export async function makeMedia(
  folder: string,
  texts: Record<string, string>,
  media: [name: string, words: string][],
): Promise<void> {
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text)
  for (const [name, line] of media) {
    await run("ffmpeg", ["-v", "error", "-y", ...wordsOf(line), name], { cwd: folder })
  }
}

/** The words of a line that is known to be well quoted. */
export function wordsOf(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return split.words
}

export async function findFont(): Promise<string> {
  const root = "/usr/share/fonts"
  const names = await readdir(root, { recursive: true })
  const found =
    names.find((name) => name.endsWith("DejaVuSans.ttf")) ??
    names.find((name) => name.endsWith(".ttf"))
  if (found === undefined) throw new Error(`expected a font below ${root}`)
  return join(root, found)
}
