import fs from "node:fs"

export type TextEdit = { from: string; to: string; times: number }

/**
 * Changes of the source of one of Miniflare's workers. Each edit replaces `from`, which must occur
 * `times` times in the pinned version.
 */
export type MiniflarePatch = {
  /** Name of the patched worker in error messages. */
  worker: string
  /** Pattern of the path of the patched worker's source file. */
  path: RegExp
  edits: readonly TextEdit[]
  /** Source text to append to the patched worker. */
  additions: string
}

/**
 * Applies a patch to the source of one of Miniflare's workers. Throws if the source is not that of
 * the pinned version.
 */
export function applyMiniflarePatch(
  { worker, edits, additions }: MiniflarePatch,
  text: string,
): string {
  let patched = text
  for (const { from, to, times } of edits) {
    const pieces = patched.split(from)
    if (pieces.length !== times + 1) {
      throw new Error(
        `the ${worker} worker of this Miniflare is not the one that its patch in scripts/build ` +
          `knows: ${JSON.stringify(from)} stands ${pieces.length - 1} times in it, not ${times}`,
      )
    }
    patched = pieces.join(to)
  }
  return patched + additions
}

/**
 * Makes Miniflare load patched sources of its workers: replaces `fs.readFileSync` until Miniflare
 * has read each source once.
 */
export function patchMiniflare(...patches: MiniflarePatch[]): void {
  const left = new Set(patches)
  const readFileSync = fs.readFileSync
  function readPatched(...call: Parameters<typeof readFileSync>) {
    const content = readFileSync(...call)
    const [path] = call
    if (typeof content !== "string" || typeof path !== "string") return content
    const patch = [...left].find((each) => each.path.test(path))
    if (!patch) return content
    left.delete(patch)
    if (left.size === 0) fs.readFileSync = readFileSync
    return applyMiniflarePatch(patch, content)
  }
  Object.assign(fs, { readFileSync: readPatched })
}
