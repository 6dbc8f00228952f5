import {
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join, resolve } from "node:path"

const folder = builtFolder(process.cwd())

/** Paths of the bundled programs that `npm run setup` makes and the service runs. */
export const BUNDLE_PATHS = {
  folder,
  /** Bundled start script, which checks whether the other bundles match the present sources. */
  start: join(folder, "start.js"),
  /** Bundled service, which the start script imports. */
  service: join(folder, "service.js"),
  /** Bundled program of the thread that opens the service's listening socket. */
  socket: join(folder, "socket.js"),
  runner: join(folder, "runner.js"),
  /** Configuration of workerd with the Worker, in binary form. */
  workerd: join(folder, "workerd.bin"),
  /** Record of workerd's configuration, with the data that the start script needs. */
  runtime: join(folder, "workerd.json"),
  /** Folder of V8's compile cache of the bundled programs. */
  compiled: join(folder, "compiled"),
  /** Build stamp of the documentation site, with the state of the site's source files. */
  siteStamp: join(folder, "site-stamp.json"),
}

/**
 * Folder of the documentation site that `npm run setup` builds. Each file's path is its URL path.
 */
export const SITE_FOLDER = resolve("dist/site")

/**
 * Environment variables of the start script. They limit the number of glibc's memory arenas,
 * because each arena keeps freed memory.
 */
export const START_SCRIPT_ENVIRONMENT = { MALLOC_ARENA_MAX: "2" }

/**
 * Option of Node.js that limits V8's young generation. A small limit suffices, because the buffers
 * of data that pass through the start script are outside V8's heap.
 */
const YOUNG_SPACE = "--max-semi-space-size=2"

/** Returns the arguments of `node` with which `npm start` starts the service of a clone. */
export function makeStartScriptArguments(project: string): [string, ...string[]] {
  const start = join(builtFolder(realpathSync(project)), "start.js")
  return existsSync(start) ? [YOUNG_SPACE, start] : ["scripts/start/main.ts"]
}

/**
 * Path of the build stamp: a JSON file with the size and modification time of each source file of
 * the bundles.
 */
const STAMP = join(folder, "stamp.json")

/**
 * Reports whether the files that a build stamp lists, by default the sources of the bundles, are
 * unchanged since the build.
 */
export function areBundlesCurrent(stampPath = STAMP): boolean {
  try {
    const stamp: unknown = JSON.parse(readFileSync(stampPath, "utf8"))
    if (typeof stamp !== "object" || stamp === null) return false
    return Object.entries(stamp).every(([path, then]) => lookAt(path) === then)
  } catch {
    return false
  }
}

/**
 * Returns the size and modification time of files for `writeBuildStamp`. Marks a file that changed
 * after `begunAt`, during the build, so that `areBundlesCurrent` returns false.
 */
export function makeBuildStamp(paths: string[], begunAt: number): Record<string, string> {
  const now = Date.now()
  return Object.fromEntries(
    paths.map((path) => {
      const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
      const isLater = changedAt >= begunAt && changedAt <= now
      return [path, isLater ? "changed meanwhile" : lookAt(path)]
    }),
  )
}

/** Removes the stamp, so that `areBundlesCurrent` returns false until a new stamp is written. */
export function removeBuildStamp(stampPath = STAMP): void {
  rmSync(stampPath, { force: true })
}

/**
 * Writes the stamp after a build. `stamp` describes the source files as they were before the build.
 */
export function writeBuildStamp(stamp: Record<string, string>, stampPath = STAMP): void {
  const temporaryPath = `${stampPath}.${process.pid}`
  writeFileSync(temporaryPath, JSON.stringify(stamp))
  renameSync(temporaryPath, stampPath)
}

/**
 * Returns the folder of a clone's bundles. The folder's path contains that of the clone, because
 * clones may share `node_modules`.
 */
function builtFolder(project: string): string {
  return join(project, "node_modules/.cache/lathe", project)
}

function lookAt(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.size} ${stats.mtimeMs}` : ""
}
