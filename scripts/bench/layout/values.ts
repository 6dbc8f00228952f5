import type { CallExpression, NewExpression, Node } from "oxc-parser"
import { isReference, meaningOf } from "./scope.ts"
import type { Meaning } from "./scope.ts"
import { findAbove, isClass, isFunction, nameOf, textOf, unwrap } from "./syntax.ts"
import type { FunctionNode } from "./syntax.ts"
import type { Reader, Value } from "./value.ts"

const ROUTER_PACKAGES = ["hono", "itty-router"]

/** What an expression may come to; nothing where no definition of the project is found. */
export function valuesOf(reader: Reader, expression: Node): Value[] {
  const node = unwrap(expression)
  if (isFunction(node)) return [{ is: "function", node }]
  if (isClass(node)) return [{ is: "class", node }]
  const text = textOf(node)
  if (text !== null) return [{ is: "text", node, text }]
  switch (node.type) {
    case "Identifier": {
      const meaning = meaningOf(reader.project.sourceOf(node), node.name, node)
      return meaning ? valuesOfMeaning(reader, meaning) : []
    }
    case "ThisExpression": {
      const around = findAbove(node, isClass)
      return around ? [{ is: "instance", node: around }] : []
    }
    case "ObjectExpression":
      return [{ is: "object", node }]
    case "ArrayExpression":
      return [{ is: "items", node, items: node.elements.flatMap((each) => each ?? []) }]
    case "SpreadElement":
      return reader.elementsOf(reader.valuesOf(node.argument))
    case "ConditionalExpression":
      return [node.consequent, node.alternate].flatMap((each) => reader.valuesOf(each))
    case "LogicalExpression":
      return [node.left, node.right].flatMap((each) => reader.valuesOf(each))
    case "AssignmentExpression":
      return reader.valuesOf(node.right)
    case "MemberExpression":
      return valuesOfMember(reader, node.object, nameOf(node.property, node.computed))
    case "CallExpression":
      return valuesOfCall(reader, node)
    case "NewExpression":
      return valuesOfNew(reader, node)
    default:
      return []
  }
}

/** What a function may return, by its return statements. */
export function returnedBy(reader: Reader, of: FunctionNode): Value[] {
  if (!of.body) return []
  if (of.body.type !== "BlockStatement") return reader.valuesOf(of.body)
  return returnsIn(of.body).flatMap((each) => reader.valuesOf(each))
}

function returnsIn(node: Node): Node[] {
  if (isFunction(node) || isClass(node)) return []
  if (node.type === "ReturnStatement") return node.argument ? [node.argument] : []
  return statementsIn(node).flatMap(returnsIn)
}

/** The statements that a statement holds. */
function statementsIn(node: Node): Node[] {
  switch (node.type) {
    case "BlockStatement":
      return node.body
    case "IfStatement":
      return [node.consequent, ...(node.alternate ? [node.alternate] : [])]
    case "SwitchStatement":
      return node.cases.flatMap((each) => each.consequent)
    case "TryStatement":
      return [node.block, ...(node.finalizer ? [node.finalizer] : [])]
    case "ForStatement":
    case "ForOfStatement":
    case "ForInStatement":
    case "WhileStatement":
    case "DoWhileStatement":
      return [node.body]
    default:
      return []
  }
}

function valuesOfMeaning(reader: Reader, meaning: Meaning): Value[] {
  switch (meaning.is) {
    case "package":
      return []
    case "import":
      return reader.valuesOfExport(meaning.import.from, meaning.import.name)
    case "definition":
      return isFunction(meaning.node) || isClass(meaning.node) ? reader.valuesOf(meaning.node) : []
    case "element":
      return follow(reader, reader.elementsOf(reader.valuesOf(meaning.of)), meaning.path)
    case "variable": {
      const { id, init } = meaning.declarator
      const made = init ? follow(reader, reader.valuesOf(init), meaning.path) : []
      if (made.length > 0 || id.type !== "Identifier" || !id.typeAnnotation) return made
      return reader.valuesOfType(id.typeAnnotation)
    }
    case "parameter":
      return valuesOfParameter(reader, meaning)
  }
}

function valuesOfParameter(
  reader: Reader,
  { of, index, path }: Extract<Meaning, { is: "parameter" }>,
): Value[] {
  const given = reader.argumentsFor(of, index).flatMap((each) => reader.valuesOf(each))
  const parameter = of.params[index]
  const pattern = parameter?.type === "AssignmentPattern" ? parameter.left : parameter
  const type = pattern && "typeAnnotation" in pattern ? pattern.typeAnnotation : null
  const typed = type ? reader.valuesOfType(type) : []
  return follow(reader, [...given, ...typed, ...itemsGiven(reader, of, index)], path)
}

/**
 * A callback of a method of a collection is given its elements, and so is one that a package's
 * function has beside a collection.
 */
function itemsGiven(reader: Reader, of: FunctionNode, index: number): Value[] {
  const call = of.parent
  if (index > 0 || call?.type !== "CallExpression" || !call.arguments.some((each) => each === of)) {
    return []
  }
  const callee = unwrap(call.callee)
  const collection = callee.type === "MemberExpression" ? callee.object : call.arguments[0]
  if (!collection || collection === of || isOfProject(reader, callee)) return []
  const values = reader.valuesOf(collection)
  return values.some(({ is }) => is === "items") ? reader.elementsOf(values) : []
}

function isOfProject(reader: Reader, callee: Node): boolean {
  if (!isReference(callee)) return false
  return meaningOf(reader.project.sourceOf(callee), callee.name, callee)?.is !== "package"
}

function follow(reader: Reader, values: Value[], path: readonly string[]): Value[] {
  return path.reduce(
    (from, name) => (name === "*" ? reader.elementsOf(from) : reader.membersOf(from, name)),
    values,
  )
}

function valuesOfMember(reader: Reader, object: Node, name: string | null): Value[] {
  const from = reader.valuesOf(object)
  if (name === null) return reader.elementsOf(from)
  const found = reader.membersOf(from, name)
  if (found.length > 0) return found
  const { objects, queues } = reader.project
  const bound = objects.get(name)
  if (bound) return [{ is: "objects", node: bound }]
  const queue = queues.get(name)
  return queue === undefined ? [] : [{ is: "queue", node: object, name: queue }]
}

function valuesOfCall(reader: Reader, call: CallExpression): Value[] {
  const callee = unwrap(call.callee)
  const known = reader.valuesOf(callee).filter((value) => value.is === "function")
  if (known.length > 0) return known.flatMap(({ node }) => reader.returnedBy(node))
  if (isReference(callee) && isRouterMaker(reader, callee)) return [{ is: "router", node: call }]
  const given = wrappedIn(reader, call)
  if (callee.type !== "MemberExpression") return given
  const from = reader.valuesOf(callee.object)
  const stubs = from.flatMap(({ is, node }) => (is === "objects" && isClass(node) ? [node] : []))
  if (stubs.length > 0) return stubs.map((node) => ({ is: "instance", node }))
  if (from.some(({ is }) => is === "router")) return from
  const name = nameOf(callee.property, callee.computed) ?? ""
  if (/^(?:find|findLast|get|at|pop|shift)$/.test(name)) return foundIn(reader, from)
  if (name === "groupBy") {
    return [{ is: "items", node: call, items: call.arguments.slice(0, 1), isGrouped: true }]
  }
  if (/^(?:map|flatMap)$/.test(name)) return mapped(reader, call)
  return [...from, ...given]
}

/** What a collection finds by a key or a test: of groups, a whole one. */
function foundIn(reader: Reader, from: readonly Value[]): Value[] {
  const groups = from.flatMap((value) => (value.is === "items" && value.isGrouped ? [value] : []))
  if (groups.length === 0) return reader.elementsOf(from)
  return groups.flatMap(({ items }) => items.flatMap((each) => reader.valuesOf(each)))
}

/**
 * What an unknown function makes of values counts as these: entries of a map, a function that it
 * wraps. A function beside other arguments, or given to a method, is only told to it.
 */
function wrappedIn(reader: Reader, call: CallExpression): Value[] {
  const values = call.arguments.flatMap((each) => reader.valuesOf(each))
  const isWrapper = call.arguments.length === 1 && isReference(unwrap(call.callee))
  return isWrapper ? values : values.filter(({ is }) => is !== "function")
}

function mapped(reader: Reader, call: CallExpression): Value[] {
  const [callback] = call.arguments
  const made = callback ? reader.valuesOf(callback) : []
  const values = made.flatMap((each) =>
    each.is === "function" ? reader.returnedBy(each.node) : [],
  )
  return [{ is: "items", node: call, items: values.map(({ node }) => node) }]
}

function valuesOfNew(reader: Reader, node: NewExpression): Value[] {
  const classes = reader.valuesOf(node.callee)
  const known = classes.flatMap((value) => (value.is === "class" ? [value.node] : []))
  if (known.length > 0) return known.map((each) => ({ is: "instance", node: each }))
  if (isReference(node.callee) && isRouterMaker(reader, node.callee))
    return [{ is: "router", node }]
  return node.arguments.flatMap((each) => reader.valuesOf(each))
}

function isRouterMaker(reader: Reader, callee: Node & { name: string }): boolean {
  const { packages } = reader.project.sourceOf(callee)
  return ROUTER_PACKAGES.includes(packages.get(callee.name) ?? "")
}
