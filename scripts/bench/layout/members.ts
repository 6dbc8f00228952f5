import type { Class, Node, ObjectExpression } from "oxc-parser"
import { descendantsOf, nameOf } from "./syntax.ts"
import { memberType } from "./type-values.ts"
import type { Reader, Value } from "./value.ts"

/** What a member of one of these values may be. */
export function membersOf(reader: Reader, values: readonly Value[], name: string): Value[] {
  const from = chooseAmong(reader, values)
  const made = from
    .filter(({ is }) => is !== "shape")
    .flatMap((value) => memberOf(reader, value, name))
  if (made.length > 0) return made
  return from.filter(({ is }) => is === "shape").flatMap((value) => memberOf(reader, value, name))
}

/** The values that collections hold; of an object, its members; of anything else, itself. */
export function elementsOf(reader: Reader, values: readonly Value[]): Value[] {
  return chooseAmong(reader, elementsIn(reader, values, new Set()))
}

function elementsIn(reader: Reader, values: readonly Value[], seen: Set<Node>): Value[] {
  return values.flatMap((value) => {
    if (value.is !== "items" && value.is !== "object") return [value]
    if (seen.has(value.node)) return []
    seen.add(value.node)
    if (value.is === "object") return valuesIn(reader, value.node, seen)
    const inner = value.items.flatMap((item) => reader.valuesOf(item))
    return inner.some(({ is }) => is === "items") ? elementsIn(reader, inner, seen) : inner
  })
}

/** Of objects that have a kind or a name, those that the trip is about, where there are any. */
function chooseAmong(reader: Reader, values: readonly Value[]): Value[] {
  const objects = values.filter(({ is }) => is === "object")
  if (objects.length < 2) return [...values]
  const chosen = objects.filter((value) =>
    ["name", "kind"].some((key) =>
      memberOf(reader, value, key).some((each) => each.is === "text" && reader.isChosen(each.text)),
    ),
  )
  return chosen.length > 0 ? chosen : [...values]
}

/** The members of an object; only the one that the trip is about, where it has such a key. */
function valuesIn(reader: Reader, object: ObjectExpression, seen: Set<Node>): Value[] {
  const properties = object.properties.flatMap((each) => (each.type === "Property" ? [each] : []))
  const chosen = properties.filter(({ key, computed }) =>
    reader.isChosen(nameOf(key, computed) ?? ""),
  )
  const spread = object.properties.flatMap((each) =>
    each.type === "SpreadElement" ? reader.valuesOf(each.argument) : [],
  )
  return [
    ...(chosen.length > 0 ? chosen : properties).flatMap(({ value }) => reader.valuesOf(value)),
    ...(chosen.length > 0 ? [] : elementsIn(reader, spread, seen)),
  ]
}

function memberOf(reader: Reader, value: Value, name: string): Value[] {
  return reader.once(`${value.is} ${name}`, value.node, () => readMember(reader, value, name))
}

function readMember(reader: Reader, value: Value, name: string): Value[] {
  switch (value.is) {
    case "object":
      return memberOfObject(reader, value.node, name)
    case "instance":
      return memberOfInstance(reader, value.node, name)
    case "shape": {
      const type = memberType(value.node, name)
      return type ? reader.valuesOfType(type) : []
    }
    case "file":
      return reader.valuesOfExport(value.source.path, name)
    default:
      return []
  }
}

function memberOfObject(reader: Reader, object: ObjectExpression, name: string): Value[] {
  for (const property of object.properties.toReversed()) {
    if (property.type === "SpreadElement") {
      const found = reader.membersOf(reader.valuesOf(property.argument), name)
      if (found.length > 0) return found
    } else if (nameOf(property.key, property.computed) === name) {
      return [...reader.valuesOf(property.value), ...assignedTo(reader, object, name)]
    }
  }
  return []
}

/** What is assigned to a member of an object after it was made. */
function assignedTo(reader: Reader, object: ObjectExpression, name: string): Value[] {
  const { project } = reader
  const source = project.sourceOf(object)
  return (project.assigned.get(name) ?? [])
    .filter((each) => project.sourceOf(each.object) === source)
    .filter((each) => reader.valuesOf(each.object).some(({ node }) => node === object))
    .flatMap((each) => reader.valuesOf(each.value))
}

function memberOfInstance(reader: Reader, of: Class, name: string): Value[] {
  for (const element of of.body.body) {
    if (element.type === "MethodDefinition" && nameOf(element.key) === name) {
      return [{ is: "function", node: element.value }]
    }
    if (element.type !== "PropertyDefinition" || nameOf(element.key) !== name) continue
    const values = element.value ? reader.valuesOf(element.value) : assignedInside(reader, of, name)
    if (values.length > 0 || !element.typeAnnotation) return values
    return reader.valuesOfType(element.typeAnnotation)
  }
  if (!of.superClass) return []
  return reader.valuesOf(of.superClass).flatMap((value) => {
    return value.is === "class" ? memberOfInstance(reader, value.node, name) : []
  })
}

function assignedInside(reader: Reader, of: Class, name: string): Value[] {
  return [...descendantsOf(of.body)].flatMap((node: Node) => {
    if (node.type !== "AssignmentExpression" || node.left.type !== "MemberExpression") return []
    const { object, property, computed } = node.left
    const isOwn = object.type === "ThisExpression" && nameOf(property, computed) === name
    return isOwn ? reader.valuesOf(node.right) : []
  })
}
