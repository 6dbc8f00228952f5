import type { CallExpression, Node, ObjectExpression, ObjectProperty } from "oxc-parser"
import { descendantsOf, nameOf, textOf } from "./syntax.ts"
import { textsOf } from "./texts.ts"
import type { Project, Reader } from "./value.ts"

/**
 * An object that says which requests it is for by its `method` and `path`, and is given to a call
 * that makes an answer of it.
 */
export type Operation = { node: ObjectExpression; call: CallExpression; method: string; path: Node }

/** The operations of a project, in the order of the source. */
export function findOperations(project: Project): Operation[] {
  return [...project.sources.values()].flatMap(({ program }) =>
    [...descendantsOf(program)].flatMap((node) =>
      node.type === "CallExpression" ? operationsGiven(node) : [],
    ),
  )
}

/** The operations that are arguments of a call. */
export function operationsGiven(call: CallExpression): Operation[] {
  return call.arguments.flatMap((node): Operation[] => {
    if (node.type !== "ObjectExpression") return []
    const method = propertyOf(node, "method")
    const text = (method && textOf(method.value)) ?? ""
    const path = propertyOf(node, "path")
    if (!/^(?:get|post|put|patch|delete)$/i.test(text) || !path) return []
    return [{ node, call, method: text.toUpperCase(), path: path.value }]
  })
}

/** Paths of an operation as routers write them: `/things/:id` for `/things/{id}`. */
export function pathsOf(reader: Reader, { path }: Operation): string[] {
  return textsOf(reader, path).map((text) => text.replaceAll(/\{(\w+)\}/g, ":$1"))
}

function propertyOf(node: ObjectExpression, name: string): ObjectProperty | undefined {
  return propertiesOf(node).find(({ key, computed }) => nameOf(key, computed) === name)
}

function propertiesOf(node: ObjectExpression): ObjectProperty[] {
  return node.properties.flatMap((each) => (each.type === "Property" ? [each] : []))
}
