import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** Ceilings of the layout; the linter has those of lines, cycles and imports. */
export type LayoutLimits = {
  filesPerFolder: number
  /** Folders with more files, each with its own ceiling, which may only fall. */
  largeFolders: Record<string, { filesMax: number; reason: string }>
  /** A file with so few lines and one importer is a splinter: it belongs beside its importer. */
  splinterLines: number
  /** May only fall. */
  splintersMax: number
}

export const LAYOUT_LIMITS: LayoutLimits = {
  filesPerFolder: 25,
  largeFolders: {
    "container/sandbox": { filesMax: 30, reason: "to be divided" },
    "container/tasks": { filesMax: 26, reason: "to be divided" },
    "scripts/local": { filesMax: 46, reason: "to be divided" },
    src: { filesMax: 26, reason: "to be divided" },
    "src/contract": { filesMax: 30, reason: "to be divided" },
    "src/http": { filesMax: 42, reason: "to be divided" },
    "src/storage": { filesMax: 53, reason: "to be divided" },
    "test/container/sandbox": { filesMax: 31, reason: "to be divided" },
    "test/scripts": { filesMax: 47, reason: "to be divided" },
    "test/support": { filesMax: 64, reason: "to be divided" },
    "test/support/site": { filesMax: 26, reason: "to be divided" },
    "test/system": { filesMax: 100, reason: "to be divided" },
  },
  splinterLines: 40,
  splintersMax: 99,
}

const ROOTS = ["container", "scripts", "src", "test"]
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g

/** Problems of the layout of the project at a path, a sentence each; splinters of tests do not count. */
export function findLayoutProblems(root: string, limits: LayoutLimits): string[] {
  const files = ROOTS.flatMap((folder) => listFiles(root, folder))
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

/** Files of a few lines that one file alone imports, types and dynamic imports included. */
function findSplinters(root: string, files: string[], linesMax: number): string[] {
  const code = files.filter((path) => /^(?!test\/).*\.tsx?$/.test(path))
  const texts = new Map(code.map((path) => [path, readFileSync(join(root, path), "utf8")]))
  const importers = new Map<string, number>()
  for (const [path, text] of texts) {
    const found = [...text.matchAll(IMPORT)].map(([, name = ""]) => join(dirname(path), name))
    for (const to of new Set(found)) importers.set(to, (importers.get(to) ?? 0) + 1)
  }
  return code.filter(
    (path) =>
      importers.get(path) === 1 && (texts.get(path)?.trimEnd().split("\n").length ?? 0) <= linesMax,
  )
}

function listFiles(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted()
}
