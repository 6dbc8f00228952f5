import type { Node, TSTypeReference } from "oxc-parser"
import { TRANSPARENT_TYPES } from "./project.ts"
import type { Reader, Value } from "./value.ts"

/** What something of a type may be: what the project makes of that type. */
export function valuesOfType(reader: Reader, type: Node): Value[] {
  switch (type.type) {
    case "TSTypeAnnotation":
    case "TSTypeOperator":
    case "TSParenthesizedType":
      return reader.valuesOfType(type.typeAnnotation)
    case "TSUnionType":
    case "TSIntersectionType":
      return type.types.flatMap((part) => reader.valuesOfType(part))
    case "TSTypeLiteral":
    case "TSInterfaceBody":
      return [{ is: "shape", node: type }]
    case "TSArrayType":
      return reader.valuesOfType(type.elementType)
    case "TSTypeReference":
      return valuesOfReference(reader, type)
    default:
      return []
  }
}

/** The type that a shape says a member has. */
export function memberType(shape: Node, name: string): Node | null {
  const members = membersOfShape(shape)
  for (const member of members) {
    if (member.type !== "TSPropertySignature" || member.key.type !== "Identifier") continue
    if (member.key.name === name) return member.typeAnnotation ?? null
  }
  return null
}

function membersOfShape(shape: Node): Node[] {
  if (shape.type === "TSTypeLiteral") return shape.members
  return shape.type === "TSInterfaceBody" ? shape.body : []
}

function valuesOfReference(reader: Reader, type: TSTypeReference): Value[] {
  if (type.typeName.type !== "Identifier") return []
  const { name } = type.typeName
  const [argument] = type.typeArguments?.params ?? []
  if (name === "ReturnType" && argument?.type === "TSTypeQuery") {
    const { exprName } = argument
    if (exprName.type !== "Identifier") return []
    const made = reader.valuesOf(exprName)
    return made.flatMap((value) => (value.is === "function" ? reader.returnedBy(value.node) : []))
  }
  if (TRANSPARENT_TYPES.has(name) && argument) return reader.valuesOfType(argument)
  const { project } = reader
  const declaration = project.typeNamed(name, type)
  if (!declaration) return argument ? reader.valuesOfType(argument) : []
  const known = project.classes.get(declaration)
  if (known) return [{ is: "instance", node: known }]
  const made = (project.makers.get(declaration) ?? []).flatMap((maker) => reader.returnedBy(maker))
  const examples = (project.examples.get(declaration) ?? []).flatMap((each) =>
    reader.valuesOf(each),
  )
  return [...made, ...examples, ...valuesOfDeclaration(reader, declaration)]
}

function valuesOfDeclaration(reader: Reader, declaration: Node): Value[] {
  if (declaration.type === "TSTypeAliasDeclaration") {
    return reader.valuesOfType(declaration.typeAnnotation)
  }
  return declaration.type === "TSInterfaceDeclaration" ? reader.valuesOfType(declaration.body) : []
}
