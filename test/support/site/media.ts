import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { parseRunnerEnvironment } from "../../../container/settings.ts"
import { MEDIA_RECIPES, TEXT_FILES } from "./media-recipes.ts"

const run = promisify(execFile)
const { FFMPEG_PATH } = parseRunnerEnvironment(
  process.env["FFMPEG_PATH"] ? { FFMPEG_PATH: process.env["FFMPEG_PATH"] } : {},
)
const CACHE = join(import.meta.dirname, "../../../node_modules/.cache")

/**
 * Returns the folder with the media files of the test site, which ffmpeg makes once.
 * media-recipes.ts lists the files. clip.mp4 has its index (`moov`) at the start, and tail.mp4 has
 * it at the end.
 */
export async function ensureMediaFolder(): Promise<string> {
  const recipe = JSON.stringify([MEDIA_RECIPES, Object.entries(TEXT_FILES)])
  const name = `site-media-${createHash("sha256").update(recipe).digest("hex").slice(0, 16)}`
  const folder = join(CACHE, name)
  if (existsSync(folder)) return folder
  await mkdir(CACHE, { recursive: true })
  const making = await mkdtemp(join(CACHE, "site-media-making-"))
  try {
    await makeAll(making)
    // Ignores the error if another process has made the same folder meanwhile.
    await rename(making, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  return folder
}

async function makeAll(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(TEXT_FILES)) {
    await mkdir(join(folder, dirname(name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  for (const { to, words } of MEDIA_RECIPES) {
    await mkdir(join(folder, dirname(to)), { recursive: true })
    const all = ["-v", "error", "-nostdin", "-y", ...words.split(" "), to]
    await run(FFMPEG_PATH, all, { cwd: folder })
  }
}
