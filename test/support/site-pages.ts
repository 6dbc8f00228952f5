import { readdirSync } from "node:fs"
import { join, relative } from "node:path"
import { SITE_FOLDER } from "../../scripts/start/bundles.ts"

/** Page of the API viewer, whose script is large. */
export const VIEWER = "/docs/reference/viewer"

/** Returns the paths of all HTML pages of the documentation. */
export function listPages(): string[] {
  return readdirSync(SITE_FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".html"))
    .map((entry) => `/${relative(SITE_FOLDER, join(entry.parentPath, entry.name))}`)
    .map((path) => path.replace(/\.html$/, "").replace(/(^\/docs)?\/index$/, "$1/"))
    .map((path) => (path === "/docs/" ? "/docs" : path))
}
