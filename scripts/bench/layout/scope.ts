import type { IdentifierReference, Node, VariableDeclarator } from "oxc-parser"
import { declaredBy } from "./source.ts"
import type { Import, Source } from "./source.ts"
import { boundBy, isClass, isFunction } from "./syntax.ts"
import type { FunctionNode } from "./syntax.ts"

/** What a name stands for at a place in the source. */
export type Meaning =
  | { is: "import"; import: Import }
  | { is: "package"; name: string }
  | { is: "variable"; declarator: VariableDeclarator; path: string[] }
  | { is: "element"; of: Node; path: string[] }
  | { is: "parameter"; of: FunctionNode; index: number; path: string[] }
  | { is: "definition"; node: Node }

/** What a name means where it stands: the nearest declaration around it, else an import. */
export function meaningOf(source: Source, name: string, place: Node): Meaning | null {
  for (let around: Node | null = place; around; around = around.parent ?? null) {
    const meaning = meaningIn(around, name)
    if (meaning) return meaning
  }
  const imported = source.imports.get(name)
  if (imported) return { is: "import", import: imported }
  const from = source.packages.get(name)
  return from === undefined ? null : { is: "package", name: from }
}

/** What a declaration at the top of a file means. */
export function meaningOfDeclared(node: Node, name: string): Meaning {
  if (node.type !== "VariableDeclarator") return { is: "definition", node }
  const path = boundBy(node.id).find((bound) => bound.name === name)?.path ?? []
  return { is: "variable", declarator: node, path }
}

/** The name of an identifier that is used as a value. */
export function isReference(node: Node): node is IdentifierReference {
  return node.type === "Identifier"
}

function meaningIn(around: Node, name: string): Meaning | null {
  if (isFunction(around)) return parameterOf(around, name)
  if (isClass(around) && around.id?.name === name) return { is: "definition", node: around }
  if (around.type === "ForOfStatement" && around.left.type === "VariableDeclaration") {
    const [declarator] = around.left.declarations
    const bound = declarator && boundBy(declarator.id).find((each) => each.name === name)
    return bound ? { is: "element", of: around.right, path: bound.path } : null
  }
  if (around.type === "ForStatement" && around.init) return declaredIn([around.init], name)
  if (around.type === "BlockStatement" || around.type === "Program") {
    return declaredIn(around.body, name)
  }
  return around.type === "SwitchCase" ? declaredIn(around.consequent, name) : null
}

function declaredIn(statements: readonly Node[], name: string): Meaning | null {
  for (const statement of statements) {
    const exported = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    const found = exported && declaredBy(exported).find(([declared]) => declared === name)
    if (found) return meaningOfDeclared(found[1], name)
  }
  return null
}

function parameterOf(around: FunctionNode, name: string): Meaning | null {
  for (const [index, parameter] of around.params.entries()) {
    const bound = boundBy(parameter).find((each) => each.name === name)
    if (bound) return { is: "parameter", of: around, index, path: bound.path }
  }
  if (around.type === "FunctionExpression" && around.id?.name === name) {
    return { is: "definition", node: around }
  }
  return null
}
