import { cpSync, globSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { runScript } from "../cli/cli-error.ts"
import { makeTempFolder } from "../cli/temp-folder.ts"
import {
  BUNDLE_PATHS,
  makeBuildStamp,
  removeBuildStamp,
  SITE_FOLDER,
  writeBuildStamp,
} from "../start/bundles.ts"
import { buildSite } from "./build.ts"

/**
 * Patterns of the sources that `buildSite` does not return. The modification time of a folder
 * changes when a file is added or removed.
 */
const SOURCES = [
  "docs/*",
  "docs/*/pictures",
  "docs/errors/*",
  "scripts/site/**/*",
  "package-lock.json",
]

await runScript(async () => {
  const begunAt = Date.now()
  await using temporary = await makeTempFolder("site")
  const inputs = await buildSite(temporary.path)
  const own = inputs.filter((path) => !/(?:^|\/)node_modules\//.test(path))
  const stamp = makeBuildStamp([...new Set([...own, ...globSync(SOURCES)])], begunAt)
  mkdirSync(BUNDLE_PATHS.folder, { recursive: true })
  removeBuildStamp(BUNDLE_PATHS.siteStamp)
  replaceFiles(temporary.path, SITE_FOLDER)
  writeBuildStamp(stamp, BUNDLE_PATHS.siteStamp)
  const seconds = ((Date.now() - begunAt) / 1000).toFixed(1)
  const pages = globSync("docs/**/*.html", { cwd: SITE_FOLDER }).length
  console.log(`Built ${pages} pages into ${relative(".", SITE_FOLDER)} in ${seconds} s.`)
})

/**
 * Replaces the files in `to` by the files of `from`, and removes all other files of `to`. Replaces
 * each file atomically, because a service may be serving the files.
 */
function replaceFiles(from: string, to: string): void {
  const made = listFiles(from)
  for (const path of made) {
    const temporaryPath = join(to, `.${process.pid}`)
    mkdirSync(dirname(join(to, path)), { recursive: true })
    cpSync(join(from, path), temporaryPath)
    renameSync(temporaryPath, join(to, path))
  }
  const kept = new Set(made)
  for (const path of listFiles(to)) if (!kept.has(path)) rmSync(join(to, path))
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}
