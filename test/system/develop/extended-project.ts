import { cp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { basename, join, relative } from "node:path"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const PROJECT = join(import.meta.dirname, "../../..")
const NOT_COPIED = [".git", ".lathe", ".wrangler", "node_modules"]

/** A name that is imported from a module, and the entry of an array that uses it. */
export type Entry = { array: string; entry: string; name: string; from: string }

/** A copy of the project to which files and lines are added. */
export type ExtendedProject = AsyncDisposable & {
  path: string
  /** Adds all files of a folder. */
  addFiles(folder: string): Promise<void>
  /** Adds the import of a name to a file, and an entry to an array that the file declares. */
  addEntry(path: string, added: Entry): Promise<void>
  /** Added and removed lines of each changed path since the copy. */
  differences(): Promise<Record<string, { added: string[]; removed: string[] }>>
}

/** Copies the project without what is installed and what it stored; packages are shared. */
export async function copyProject(): Promise<ExtendedProject> {
  await using stack = new AsyncDisposableStack()
  const { path: copy } = stack.use(await makeTempFolder("project"))
  await cp(PROJECT, copy, {
    recursive: true,
    filter: (from) => !NOT_COPIED.includes(basename(from)),
  })
  // Set-up puts there what it bundles of the copy, below the path of that.
  const built = join(PROJECT, "node_modules/.cache/lathe", copy)
  stack.defer(() => rm(built, { recursive: true, force: true }))
  await symlink(join(PROJECT, "node_modules"), join(copy, "node_modules"))
  const before = await readTree(copy)
  const made = stack.move()
  return {
    path: copy,
    addFiles: async (folder) => await cp(folder, copy, { recursive: true, errorOnExist: true }),
    async addEntry(path, added) {
      const text = await readFile(join(copy, path), "utf8")
      await writeFile(join(copy, path), withEntry(text, added))
    },
    differences: async () => differencesOf(before, await readTree(copy)),
    [Symbol.asyncDispose]: async () => await made.disposeAsync(),
  }
}

/** Paths of all files below a folder, sorted. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
}

function withEntry(text: string, { array, entry, name, from }: Entry): string {
  const list = new RegExp(`^(const ${array}\\b[^=]*= \\[\\n[^\\]]*)\\]`, "m")
  if (!list.test(text)) throw new Error(`there is no array ${array} with a line for each entry`)
  const listed = text.replace(list, (_, entries: string) => `${entries}  ${entry},\n]`)
  const lines = listed.split("\n")
  const lastImport = lines.findLastIndex((line) => line.startsWith("import "))
  return lines.toSpliced(lastImport + 1, 0, `import { ${name} } from "${from}"`).join("\n")
}

async function readTree(folder: string): Promise<Map<string, string>> {
  const paths = (await listFiles(folder)).filter((path) => !path.startsWith("container/launcher/"))
  const read = paths.map(
    async (path) => [path, await readFile(join(folder, path), "latin1")] as const,
  )
  return new Map(await Promise.all(read))
}

function differencesOf(before: Map<string, string>, after: Map<string, string>) {
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  )
  return Object.fromEntries(
    changed.map((path) => {
      const [old, now] = [before, after].map((tree) => (tree.get(path) ?? "").split("\n"))
      return [path, { added: linesMissing(now, old), removed: linesMissing(old, now) }] as const
    }),
  )
}

/** Lines of one text that another does not have. */
function linesMissing(lines: string[] = [], other: string[] = []): string[] {
  return lines.filter((line) => !other.includes(line))
}
