import { visitorKeys } from "oxc-parser"
import type { ArrowFunctionExpression, Class, Function, Node } from "oxc-parser"

/** A function of any form; methods hold one as their value. */
export type FunctionNode = Function | ArrowFunctionExpression

/** The direct children of a node, in the order of the source. */
export function childrenOf(node: Node): Node[] {
  return (visitorKeys[node.type] ?? []).flatMap((key) => {
    const child: unknown = Reflect.get(node, key)
    return (Array.isArray(child) ? child : [child]).filter(isNode)
  })
}

/** A node and all that is below it, in the order of the source. */
export function* descendantsOf(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) yield* descendantsOf(child)
}

/** Notes the parent of every node below one. */
export function linkParents(node: Node): void {
  for (const child of childrenOf(node)) {
    child.parent = node
    linkParents(child)
  }
}

/** The nearest node above that passes a test; null where there is none. */
export function findAbove<Found extends Node>(
  node: Node,
  isWanted: (above: Node) => above is Found,
): Found | null {
  for (let above = node.parent; above; above = above.parent) if (isWanted(above)) return above
  return null
}

export function isFunction(node: Node): node is FunctionNode {
  return (
    node.type === "FunctionDeclaration" ||
    node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression"
  )
}

export function isClass(node: Node): node is Class {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression"
}

/** An expression without what only types or awaits it. */
export function unwrap(node: Node): Node {
  switch (node.type) {
    case "AwaitExpression":
      return unwrap(node.argument)
    case "ChainExpression":
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
      return unwrap(node.expression)
    default:
      return node
  }
}

/** The text of a string or template, with `{}` in the place of what it computes; else null. */
export function textOf(node: Node): string | null {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : null
  if (node.type !== "TemplateLiteral") return null
  return node.quasis.map(({ value }) => value.cooked ?? value.raw).join("{}")
}

/** The name of a property, parameter or member as it is written; null where it is computed. */
export function nameOf(key: Node, isComputed = false): string | null {
  if (key.type === "PrivateIdentifier") return `#${key.name}`
  if (key.type === "Identifier" && !isComputed) return key.name
  return textOf(key)
}

/** A name that a pattern binds, and the members that lead to it; `*` is any element. */
export type Bound = { name: string; path: string[] }

/** The names that a pattern or a parameter binds. */
export function boundBy(pattern: Node, path: string[] = []): Bound[] {
  switch (pattern.type) {
    case "Identifier":
      return [{ name: pattern.name, path }]
    case "ObjectPattern":
      return pattern.properties.flatMap((property) => {
        if (property.type === "RestElement") return boundBy(property.argument, path)
        return boundBy(property.value, [...path, nameOf(property.key, property.computed) ?? "*"])
      })
    case "ArrayPattern":
      return pattern.elements.flatMap((element) =>
        element ? boundBy(element, [...path, "*"]) : [],
      )
    case "AssignmentPattern":
      return boundBy(pattern.left, path)
    case "RestElement":
      return boundBy(pattern.argument, path)
    case "TSParameterProperty":
      return boundBy(pattern.parameter, path)
    default:
      return []
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value
}
