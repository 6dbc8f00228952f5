import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Class, Node, TSTypeReference } from "oxc-parser"
import { meaningOf } from "./scope.ts"
import type { Source, Sources } from "./source.ts"
import { descendantsOf, isClass, isFunction, nameOf } from "./syntax.ts"
import type { Project } from "./value.ts"

/** Types that are their first argument as far as members go. */
export const TRANSPARENT_TYPES = new Set(
  "Promise Awaited Readonly Partial Required Pick Omit Extract Exclude NonNullable".split(" "),
)
const COLLECTION_TYPES = new Set("Array ReadonlyArray Set ReadonlySet Map ReadonlyMap".split(" "))

/** Looks through the sources once for what trips ask about again and again. */
export function openProject(root: string, sources: Sources): Project {
  const byProgram = new Map<Node, Source>()
  for (const source of sources.values()) byProgram.set(source.program, source)
  function sourceOf(node: Node): Source {
    let top = node
    while (top.parent) top = top.parent
    const source = byProgram.get(top)
    if (!source) throw new Error("a node is of no source")
    return source
  }
  function typeNamed(name: string, place: Node): Node | null {
    const meaning = meaningOf(sourceOf(place), name, place)
    if (meaning?.is === "definition") return meaning.node
    if (meaning?.is !== "import") return null
    return sources.get(meaning.import.from)?.declared.get(meaning.import.name) ?? null
  }
  const project: Project = {
    sources,
    sourceOf,
    typeNamed,
    makers: new Map(),
    examples: new Map(),
    classes: new Map(),
    objects: new Map(),
    queues: readQueues(root),
    assigned: new Map(),
  }
  const nodes = [...sources.values()].flatMap(({ program }) => [...descendantsOf(program)])
  for (const node of nodes) noteNode(project, node)
  for (const node of nodes) if (isClass(node)) noteClass(project, node)
  for (const node of nodes) noteBinding(project, node)
  return project
}

function noteClass(project: Project, node: Class): void {
  project.classes.set(node, node)
  for (const { expression } of node.implements ?? []) {
    const type = expression.type === "Identifier" ? project.typeNamed(expression.name, node) : null
    if (type) project.classes.set(type, node)
  }
}

/** The named type that a type says, through promises and the like; null where there is none. */
export function namedType(type: Node): TSTypeReference | null {
  if (type.type === "TSTypeAnnotation") return namedType(type.typeAnnotation)
  if (type.type === "TSArrayType") return namedType(type.elementType)
  if (type.type === "TSTypeOperator") return namedType(type.typeAnnotation)
  if (type.type !== "TSTypeReference") return null
  const { typeName, typeArguments } = type
  const [first] = typeArguments?.params ?? []
  const isWrapper =
    typeName.type === "Identifier" &&
    (TRANSPARENT_TYPES.has(typeName.name) || COLLECTION_TYPES.has(typeName.name))
  return isWrapper && first ? namedType(first) : type
}

function noteNode(project: Project, node: Node): void {
  if (isFunction(node) && node.returnType) {
    noteTyped(project, project.makers, node.returnType, node)
  }
  if (node.type === "VariableDeclarator" && node.init && node.id.type === "Identifier") {
    if (node.id.typeAnnotation) noteExample(project, node.id.typeAnnotation, node.init)
  }
  if (node.type === "TSSatisfiesExpression") {
    noteExample(project, node.typeAnnotation, node.expression)
  }
  if (node.type === "AssignmentExpression" && node.left.type === "MemberExpression") {
    const name = nameOf(node.left.property, node.left.computed)
    const { object } = node.left
    if (name !== null) push(project.assigned, name, { object, value: node.right })
  }
}

function noteExample(project: Project, type: Node, expression: Node): void {
  noteTyped(project, project.examples, type, expression)
}

function noteTyped<Of extends Node>(
  project: Project,
  index: Map<Node, Of[]>,
  type: Node,
  of: Of,
): void {
  const named = namedType(type)
  if (named?.typeName.type !== "Identifier") return
  const declaration = project.typeNamed(named.typeName.name, named)
  if (declaration) push(index, declaration, of)
}

/** Notes a member of a type that leads to Durable Objects. */
function noteBinding(project: Project, node: Node): void {
  if (node.type !== "TSPropertySignature") return
  const type = node.typeAnnotation?.typeAnnotation
  if (type?.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return
  if (type.typeName.name !== "DurableObjectNamespace") return
  const [argument] = type.typeArguments?.params ?? []
  const named = argument && namedType(argument)
  if (named?.typeName.type !== "Identifier") return
  const declaration = project.typeNamed(named.typeName.name, named)
  const found = declaration && project.classes.get(declaration)
  if (found) project.objects.set(nameOf(node.key) ?? "", found)
}

/** The queue of each binding, as wrangler.toml says. */
function readQueues(root: string): Map<string, string> {
  const path = join(root, "wrangler.toml")
  const text = existsSync(path) ? readFileSync(path, "utf8") : ""
  const producers = text.matchAll(
    /^\[\[queues\.producers\]\]\s+binding = "([^"]+)"\s+queue = "([^"]+)"/gm,
  )
  return new Map(Array.from(producers, ([, binding = "", queue = ""]) => [binding, queue]))
}

function push<Key, Item>(index: Map<Key, Item[]>, key: Key, item: Item): void {
  const known = index.get(key)
  if (known) known.push(item)
  else index.set(key, [item])
}
