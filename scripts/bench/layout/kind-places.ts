import type { Node } from "oxc-parser"
import { posix } from "node:path"
import type { Source, Sources } from "./source.ts"
import { descendantsOf } from "./syntax.ts"

export type Mention = { path: string; line: number; text: string }

export type Kind = {
  name: string
  /** Folders and files that are its own. */
  own: readonly string[]
  /** Folders of kinds that are made of it: they use it as it is, and it touches nothing of them. */
  madeOfIt: readonly string[]
}

/**
 * Places outside of a kind's own files, and of kinds made of it, that name it: statements that import from these, and texts
 * that are its name, in values and in types.
 */
export function findKindPlaces(sources: Sources, kind: Kind): Mention[] {
  return [...sources.values()]
    .filter(({ path }) => !isOneOf([...kind.own, ...kind.madeOfIt], path))
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
  return from !== undefined && isOneOf(kind.own, posix.join(posix.dirname(source.path), from))
}

function isOneOf(places: readonly string[], path: string): boolean {
  return places.some((place) => (place.endsWith("/") ? path.startsWith(place) : path === place))
}

function placeOf({ path, text }: Source, node: Node): Mention {
  const line = text.slice(0, node.start).split("\n").length
  return { path, line, text: text.split("\n")[line - 1]?.trim() ?? "" }
}
