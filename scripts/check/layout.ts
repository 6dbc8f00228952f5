import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { findImports, listSourceFiles } from "./imports.ts"

/**
 * Limits of the project's file layout. The linter, and not this module, checks lines per file,
 * import cycles and import rules.
 */
export type LayoutLimits = {
  filesPerFolder: number
  /**
   * Folders that may have more files than `filesPerFolder`, each with its own limit and the reason.
   * Changes may only lower a limit.
   */
  largeFolders: Record<string, { filesMax: number; reason: string }>
  /**
   * Maximum number of lines of a splinter: a short file with one importer, which usually belongs in
   * the importing file.
   */
  splinterLines: number
  /** Maximum number of splinters in the project. Changes may only lower this limit. */
  splintersMax: number
}

export const LAYOUT_LIMITS: LayoutLimits = {
  filesPerFolder: 25,
  largeFolders: {},
  splinterLines: 40,
  splintersMax: 17,
}

/**
 * Finds breaches of the layout limits in the project at `root`. Returns a sentence for each.
 * Splinters in tests do not count.
 */
export function findLayoutProblems(root: string, limits: LayoutLimits): string[] {
  const files = listSourceFiles(root)
  const splinters = findSplinters(root, files, limits.splinterLines)
  if (splinters.length <= limits.splintersMax) return findFolderProblems(files, limits)
  return [
    ...findFolderProblems(files, limits),
    `${splinters.length} files have at most ${limits.splinterLines} lines and one importer; ` +
      `${limits.splintersMax} may: ${splinters.join(", ")}.`,
  ]
}

function findFolderProblems(files: string[], limits: LayoutLimits): string[] {
  const { filesPerFolder, largeFolders } = limits
  const folders = Map.groupBy(files, dirname)
  const grown = [...folders].flatMap(([folder, { length }]) => {
    const filesMax = largeFolders[folder]?.filesMax ?? filesPerFolder
    return length > filesMax ? [`${folder} has ${length} files; ${filesMax} is its ceiling.`] : []
  })
  const stale = Object.keys(largeFolders)
    .filter((folder) => (folders.get(folder)?.length ?? 0) <= filesPerFolder)
    .map((folder) => `${folder} needs no exception: it has at most ${filesPerFolder} files.`)
  return [...grown, ...stale]
}

/**
 * Returns files with at most `linesMax` lines that only one file imports. Imports of types and
 * dynamic imports count too.
 */
function findSplinters(root: string, files: string[], linesMax: number): string[] {
  const importers = new Map<string, Set<string>>()
  for (const { path, name } of findImports(root)) {
    if (path.startsWith("test/") || !name.startsWith(".")) continue
    const target = join(dirname(path), name)
    importers.set(target, (importers.get(target) ?? new Set()).add(path))
  }
  return files.filter(
    (path) =>
      /^(?!test\/).*\.tsx?$/.test(path) &&
      importers.get(path)?.size === 1 &&
      readFileSync(join(root, path), "utf8").trimEnd().split("\n").length <= linesMax,
  )
}
