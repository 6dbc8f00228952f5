import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { wordsOf } from "./fixtures.ts"

const run = promisify(execFile)

const MADE: Record<string, string> = {
  "film.ts":
    "-f lavfi -i testsrc2=s=64x64:r=10:d=1 -c:v libx264 -preset ultrafast -pix_fmt yuv420p",
  "film.mp4":
    "-f lavfi -i testsrc2=s=64x64:r=10:d=1 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -movflags frag_keyframe+empty_moov+default_base_moof",
  "picture.png": "-f lavfi -i color=white:s=64x32 -frames:v 1",
}

/** Media that lie outside and that no job may read. */
export async function makeCanaryMedia(): Promise<Record<string, Uint8Array>> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-media-"))
  try {
    const media: Record<string, Uint8Array> = {}
    for (const [name, line] of Object.entries(MADE)) {
      await run("ffmpeg", ["-v", "error", ...wordsOf(line), name], { cwd: folder })
      media[name] = await readFile(join(folder, name))
    }
    return media
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
