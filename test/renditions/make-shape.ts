import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { serviceToolPaths } from "../../scripts/cli/client/media.ts"
import type { Shape } from "./shape.ts"

const LEADING = "-v error -nostdin -y".split(" ")

/** Makes the file of a shape in a folder; its path. */
export async function makeShape(folder: string, shape: Shape): Promise<string> {
  for (const [name, text] of Object.entries(shape.texts ?? {})) {
    await writeFile(join(folder, name), text)
  }
  for (const step of shape.steps) {
    const words = [...LEADING, ...wordsOf(step)]
    await promisify(execFile)(serviceToolPaths.ffmpeg, words, { cwd: folder })
  }
  const path = join(folder, shape.file)
  if (shape.change) await writeFile(path, shape.change(new Uint8Array(await readFile(path))))
  return path
}

/** Words of a step: quotes are a filter's own. */
function wordsOf(step: string): string[] {
  return step.trim().split(/\s+/)
}
