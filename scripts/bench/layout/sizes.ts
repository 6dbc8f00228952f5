import { readFileSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "./source.ts"

export type Size = { path: string; lines: number }

/** The TypeScript files below some folders with their lines, the longest first. */
export function readSizes(root: string, folders: readonly string[]): Size[] {
  return folders
    .flatMap((folder) => listFiles(root, folder, /\.ts$/))
    .map((path) => ({ path, lines: countLines(readFileSync(join(root, path), "utf8")) }))
    .toSorted((one, other) => other.lines - one.lines)
}

function countLines(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0)
}
