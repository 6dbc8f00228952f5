import { readFileSync, statSync } from "node:fs"
import { join, normalize } from "node:path"
import mime from "mime"
import { wholeAnswer } from "./visit.ts"
import type { Answer } from "./visit.ts"

/** Returns a response with a media file, or null if the file does not exist. */
export function mediaAnswer(folder: string, name: string): Answer | null {
  const path = join(folder, normalize(`/${name}`))
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null
  return wholeAnswer(mime.getType(path) ?? "application/octet-stream", readFileSync(path))
}
