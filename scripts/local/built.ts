import {
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"

const folder = builtFolder(process.cwd())

/** Where the set-up puts what the service runs. */
export const BUILT = {
  folder,
  /** The start script, which knows whether the rest is of these sources. */
  start: join(folder, "start.js"),
  /** What it then imports. */
  service: join(folder, "service.js"),
  /** The thread that holds the socket of callers. */
  socket: join(folder, "socket.js"),
  runner: join(folder, "runner.js"),
  /** The configuration of workerd, in its binary form. */
  workerd: join(folder, "workerd.bin"),
  /** What the start script has to know of that. */
  runtime: join(folder, "workerd.json"),
  /** V8's own form of these, which it makes as they run. */
  compiled: join(folder, "compiled"),
}

/**
 * What `npm start` adds to the environment of the start script: each arena of glibc keeps what was
 * freed in it, and there are as many as threads.
 */
export const START_ENVIRONMENT = { MALLOC_ARENA_MAX: "2" }

/** Bytes that pass the start script lie outside of V8's heap, whose young part may stay small. */
const YOUNG_SPACE = "--max-semi-space-size=2"

/** The words after `node` by which `npm start` starts the service of a project. */
export function startWords(project: string): [string, ...string[]] {
  const start = join(builtFolder(realpathSync(project)), "start.js")
  return existsSync(start) ? [YOUNG_SPACE, start] : ["scripts/start.ts"]
}

/** Size and time of last change of each file that this was made of, by its path. */
const STAMP = join(folder, "stamp.json")

/** Whether what is built was made of the files as they are now. */
export function isBuilt(): boolean {
  try {
    const stamp: unknown = JSON.parse(readFileSync(STAMP, "utf8"))
    if (typeof stamp !== "object" || stamp === null) return false
    return Object.entries(stamp).every(([path, then]) => lookAt(path) === then)
  } catch {
    return false
  }
}

/**
 * What these files are like, as `writeStamp` takes it: one that was changed after `begunAt`, while
 * all was built, counts as another than what was built of.
 */
export function lookAtAll(paths: string[], begunAt: number): Record<string, string> {
  const now = Date.now()
  return Object.fromEntries(
    paths.map((path) => {
      const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
      const isLater = changedAt >= begunAt && changedAt <= now
      return [path, isLater ? "changed meanwhile" : lookAt(path)]
    }),
  )
}

/** Has nothing count as built until a stamp is written again. */
export function removeStamp(): void {
  rmSync(STAMP, { force: true })
}

/** Says that all is built, of files that were like this before that. */
export function writeStamp(stamp: Record<string, string>): void {
  const made = `${STAMP}.${process.pid}`
  writeFileSync(made, JSON.stringify(stamp))
  renameSync(made, STAMP)
}

/** Copies of the project may share their packages, so each has a folder of its path. */
function builtFolder(project: string): string {
  return join(project, "node_modules/.cache/lathe", project)
}

function lookAt(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.size} ${stats.mtimeMs}` : ""
}
