import { readFileSync, statSync } from "node:fs"
import { join, normalize } from "node:path"
import mime from "mime"
import { makeMemoryResponse } from "./visit.ts"
import type { SiteResponse } from "./visit.ts"

/** Returns a response with a media file, or null if the file does not exist. */
export function serveMediaFile(folder: string, name: string): SiteResponse | null {
  const path = join(folder, normalize(`/${name}`))
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null
  return makeMemoryResponse(mime.getType(path) ?? "application/octet-stream", readFileSync(path))
}
