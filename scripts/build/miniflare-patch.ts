import fs from "node:fs"

export type Edit = { from: string; to: string; times: number }

/** Changes of one of Miniflare's workers; `times` is how often `from` occurs in the pinned text. */
export type MiniflarePatch = {
  /** What a message calls the worker. */
  worker: string
  /** The end of the path of its text. */
  path: RegExp
  edits: readonly Edit[]
  /** What is written behind the text. */
  additions: string
}

/** The text of one of Miniflare's workers, changed; throws on another text than the pinned one. */
export function patchText({ worker, edits, additions }: MiniflarePatch, text: string): string {
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

/** Has Miniflare, which reads each of its workers once from disk, read the patched texts. */
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
    return patchText(patch, content)
  }
  Object.assign(fs, { readFileSync: readPatched })
}
