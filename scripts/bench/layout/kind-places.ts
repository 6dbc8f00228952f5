import type { Node } from "oxc-parser"
import { posix } from "node:path"
import type { Source, Sources } from "./source.ts"
import { descendantsOf } from "./syntax.ts"

export type Mention = { path: string; line: number; text: string }

/** A kind of work, and the folders and files that are its own. */
export type Kind = { name: string; own: readonly string[] }

/**
 * Places outside of a kind's own files that name it: statements that import from these, and texts
 * that are its name, in values and in types.
 */
export function findKindPlaces(sources: Sources, kind: Kind): Mention[] {
  return [...sources.values()]
    .filter(({ path }) => !isOwn(path, kind))
    .flatMap((source) =>
      [...descendantsOf(source.program)]
        .filter((node) => namesKind(source, node, kind))
        .map((node) => placeOf(source, node)),
    )
}

function namesKind(source: Source, node: Node, kind: Kind): boolean {
  if (node.type === "Literal") return node.value === kind.name
  if (node.type !== "ImportDeclaration" && node.type !== "ExportNamedDeclaration") return false
  const from = node.source?.value
  return from !== undefined && isOwn(posix.join(posix.dirname(source.path), from), kind)
}

function isOwn(path: string, { own }: Kind): boolean {
  return own.some((place) => (place.endsWith("/") ? path.startsWith(place) : path === place))
}

function placeOf({ path, text }: Source, node: Node): Mention {
  const line = text.slice(0, node.start).split("\n").length
  return { path, line, text: text.split("\n")[line - 1]?.trim() ?? "" }
}
