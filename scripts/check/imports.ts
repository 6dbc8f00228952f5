import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const ROOTS = ["container", "scripts", "src", "test"]
/** Pattern of an import statement in the style of the formatter, or of a dynamic import. */
const IMPORT = /^(?:(?:import|export)\b[^"]*?\bfrom |import )"([^"]+)"|\bimport\(\s*"([^"]+)"/gm

/**
 * Import in a source file: the path of the importing file, and the imported name. Imports of types
 * and dynamic imports count too.
 */
export type ImportStatement = { path: string; name: string }

/** Returns the sorted paths of all source files of the project at `root`. */
export function listSourceFiles(root: string): string[] {
  return ROOTS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
  ).toSorted()
}

/**
 * Returns the imports of all TypeScript files of the project at `root`. Leaves out fixtures,
 * because their imports resolve only where a test copies them.
 */
export function findImports(root: string): ImportStatement[] {
  return listSourceFiles(root)
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("test/fixtures/"))
    .flatMap((path) =>
      [...readFileSync(join(root, path), "utf8").matchAll(IMPORT)].map(
        ([, name, dynamic = ""]) => ({ path, name: name ?? dynamic }),
      ),
    )
}
