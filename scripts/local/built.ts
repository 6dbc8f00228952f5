import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Copies of the project may share their packages, so each has a folder of its path. */
const folder = join(process.cwd(), "node_modules/.cache/lathe", process.cwd())

/** Where the set-up puts what the service runs. */
export const BUILT = {
  folder,
  /** The start script, which knows whether the rest is of these sources. */
  start: join(folder, "start.js"),
  /** What it then imports. */
  service: join(folder, "service.js"),
  /** The thread of the front. */
  front: join(folder, "front.js"),
  runner: join(folder, "runner.js"),
  /** The configuration of workerd, in its binary form. */
  workerd: join(folder, "workerd.bin"),
  /** What the start script has to know of that. */
  runtime: join(folder, "workerd.json"),
  /** V8's own form of these, which it makes as they run. */
  compiled: join(folder, "compiled"),
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

/** Says that all is built, of files that were like this before that. */
export function writeStamp(stamp: Record<string, string>): void {
  const made = `${STAMP}.${process.pid}`
  writeFileSync(made, JSON.stringify(stamp))
  renameSync(made, STAMP)
}

function lookAt(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats ? `${stats.size} ${stats.mtimeMs}` : ""
}
