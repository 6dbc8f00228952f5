import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { parseSync } from "oxc-parser"
import type { ImportDeclarationSpecifier, Node, Program } from "oxc-parser"
import { boundBy, descendantsOf, linkParents, nameOf } from "./syntax.ts"

/** One name that a file has from another file; `*` is the whole of it. */
export type Import = { from: string; name: string }

/** One file of TypeScript, read as text; paths are relative to the root, with slashes. */
export type Source = {
  path: string
  text: string
  program: Program
  /** What it imports from files of the project, by its name here. */
  imports: Map<string, Import>
  /** What it imports from packages, by its name here. */
  packages: Map<string, string>
  /** What it declares at its top, by name; `default` is its default export. */
  declared: Map<string, Node>
  /** Files that it imports, those it has only types from included. */
  dependencies: Set<string>
}

/** The sources of a project by path. */
export type Sources = Map<string, Source>

/** Reads every TypeScript file below some folders of a root. */
export function readSources(root: string, folders: readonly string[]): Sources {
  const paths = folders.flatMap((folder) => listFiles(root, folder, /\.ts$/))
  return new Map(paths.map((path) => [path, readSource(root, path)]))
}

/** Paths of the files below a folder that fit a pattern, in the order of their names. */
export function listFiles(root: string, folder: string, pattern: RegExp): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => posix.join(folder, path.replaceAll("\\", "/")))
    .filter((path) => pattern.test(path) && !path.includes("node_modules/"))
    .toSorted()
}

/** The room of a file: its folder. */
export function roomOf(path: string): string {
  return posix.dirname(path)
}

function readSource(root: string, path: string): Source {
  const text = readFileSync(join(root, path), "utf8")
  const { program } = parseSync(path, text)
  linkParents(program)
  const source: Source = {
    path,
    text,
    program,
    imports: new Map(),
    packages: new Map(),
    declared: new Map(),
    dependencies: new Set(),
  }
  for (const statement of program.body) noteStatement(source, statement)
  for (const node of descendantsOf(program)) {
    if (node.type !== "TSImportType" && node.type !== "ImportExpression") continue
    if (node.source.type === "Literal") noteDependency(source, String(node.source.value))
  }
  return source
}

function noteStatement(source: Source, statement: Node): void {
  switch (statement.type) {
    case "ImportDeclaration": {
      const from = noteDependency(source, statement.source.value)
      for (const specifier of statement.specifiers) {
        const { name } = specifier.local
        if (from === null) source.packages.set(name, statement.source.value)
        else source.imports.set(name, { from, name: importedName(specifier) })
      }
      return
    }
    case "ExportNamedDeclaration":
      if (statement.source) noteDependency(source, statement.source.value)
      if (statement.declaration) noteStatement(source, statement.declaration)
      return
    case "ExportDefaultDeclaration":
      source.declared.set("default", statement.declaration)
      return
    case "ExportAllDeclaration":
      noteDependency(source, statement.source.value)
      return
    default:
      for (const [name, declared] of declaredBy(statement)) source.declared.set(name, declared)
  }
}

/** The names that a statement declares; a variable stands for its declarator. */
export function declaredBy(statement: Node): [string, Node][] {
  switch (statement.type) {
    case "FunctionDeclaration":
    case "ClassDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSInterfaceDeclaration":
      return statement.id ? [[statement.id.name, statement]] : []
    case "VariableDeclaration":
      return statement.declarations.flatMap((declarator) =>
        boundBy(declarator.id).map(({ name }): [string, Node] => [name, declarator]),
      )
    default:
      return []
  }
}

function importedName(specifier: ImportDeclarationSpecifier): string {
  if (specifier.type === "ImportNamespaceSpecifier") return "*"
  if (specifier.type === "ImportDefaultSpecifier") return "default"
  return nameOf(specifier.imported) ?? ""
}

/** Notes a file of the project that is imported; null for a package. */
function noteDependency(source: Source, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null
  const path = posix.join(posix.dirname(source.path), specifier)
  source.dependencies.add(path)
  return path
}
