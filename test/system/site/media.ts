import { execFile } from "node:child_process"
import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { SPEECH_MODELS_PATH } from "../../../scripts/setup/speech.ts"

const FILM = "scripts/demo/command/clip.mp4"
const SPEECH = "scripts/demo/speech/clip.mp3"
const INTRO =
  "gradients=size=640x360:rate=25:duration=4:seed=9:c0=0x0b3954:c1=0xff6663:nb_colors=2," +
  "drawtext=text=Intro:fontsize=72:fontcolor=white:x=(w-tw)/2:y=(h-th)/2"
const LOGO =
  "color=c=0x2a52be:size=160x56,format=rgba," +
  "drawtext=text=LATHE:fontsize=34:fontcolor=white:x=(w-tw)/2:y=(h-th)/2"
const SCENES =
  "[0:v]trim=2:4,setpts=PTS-STARTPTS[a];[1:v]split[i][j];[i]trim=0:2[b];[j]negate,trim=0:2[c];[a][b][c]concat=n=3"
const WORDS = "1\n00:00:01,000 --> 00:00:04,000\nHello. This clip was made to be changed.\n"

/** Copies of recordings, by the names that the examples of the documentation give them. */
const COPIES: Record<string, string> = {
  "clip.mp4": FILM,
  "clip 1.mp4": FILM,
  "film.mp4": FILM,
  "talk.mp3": SPEECH,
  "talk.mp4": FILM,
  "voice.mp3": SPEECH,
}

/** Folder of speech models beside the files. */
export const MODELS_FOLDER = "models"
const COOKIES =
  "# Netscape HTTP Cookie File\n.example.com\tTRUE\t/\tTRUE\t4102444800\tsession\tsecret\n"

/** Makes the files that the examples of the documentation name, in a folder. */
export async function makeReaderFiles(folder: string): Promise<void> {
  const { ffmpeg } = findMediaTools()
  async function make(name: string, ...words: string[]): Promise<void> {
    await promisify(execFile)(ffmpeg, ["-v", "error", "-y", ...words, join(folder, name)])
  }
  for (const [name, source] of Object.entries(COPIES)) await copyFile(source, join(folder, name))
  const sound = ["-f", "lavfi", "-i", "sine=frequency=330:duration=4", "-shortest"]
  await make("intro.mp4", "-f", "lavfi", "-i", INTRO, ...sound, "-pix_fmt", "yuv420p")
  await make("logo.png", "-f", "lavfi", "-i", LOGO, "-frames:v", "1")
  const inputs = ["-i", FILM, "-i", join(folder, "intro.mp4")]
  await make("lecture.mp4", ...inputs, "-filter_complex", SCENES, "-pix_fmt", "yuv420p")
  for (const second of [2, 5, 8]) {
    const name = `photo-${(second + 1) / 3}.jpg`
    await make(name, "-ss", String(second), "-i", FILM, "-frames:v", "1")
  }
  await writeFile(join(folder, "cookies.txt"), COOKIES)
  await mkdir(join(folder, MODELS_FOLDER))
  for (const name of ["small", "medium"]) {
    await symlink(join(SPEECH_MODELS_PATH, "base"), join(folder, MODELS_FOLDER, name))
  }
  for (const name of ["words.srt", "titles.srt"]) await writeFile(join(folder, name), WORDS)
}
