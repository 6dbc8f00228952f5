import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { LeftOut } from "./build-options.ts"

/** A line of such a list: the address of what is there. */
const ENTRY = /^\s*&(\w+),\s*$/

/**
 * Rewrites a list in the folder of a build, so that the linker leaves out what nothing else names. Throws
 * an Error where it holds nothing of that, as where another version of ffmpeg writes it otherwise.
 */
export async function leaveOut(folder: string, { list, names }: LeftOut): Promise<void> {
  const path = join(folder, list)
  const lines = (await readFile(path, "utf8")).split("\n")
  const kept = lines.filter((line) => {
    const [, name] = ENTRY.exec(line) ?? []
    return name === undefined || !names.test(name)
  })
  if (kept.length === lines.length) {
    throw new Error(`${list} of ffmpeg has no name that fits ${String(names)}: is it written anew?`)
  }
  await writeFile(path, kept.join("\n"))
}
