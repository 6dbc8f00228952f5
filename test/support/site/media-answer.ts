import { readFileSync, statSync } from "node:fs"
import { join, normalize } from "node:path"
import mime from "mime"
import { wholeAnswer } from "./visit.ts"
import type { Answer } from "./visit.ts"

/** A file of the media; null where there is none. */
export function mediaAnswer(folder: string, name: string): Answer | null {
  const path = join(folder, normalize(`/${name}`))
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null
  return wholeAnswer(mime.getType(path) ?? "application/octet-stream", readFileSync(path))
}
