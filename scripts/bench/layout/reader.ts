import type { Node } from "oxc-parser"
import { elementsOf, membersOf } from "./members.ts"
import { ask, askAgain, noteUse, openMemory, unique } from "./memory.ts"
import type { Basis } from "./memory.ts"
import { meaningOfDeclared } from "./scope.ts"
import { isClass, isFunction } from "./syntax.ts"
import type { FunctionNode } from "./syntax.ts"
import { valuesOfType } from "./type-values.ts"
import type { Project, Reader, Value } from "./value.ts"
import { returnedBy, valuesOf } from "./values.ts"

/** A reader of values that learns, call by call, what a trip gives for parameters. */
export type TripReader = Reader & {
  /** Adds a queue to what the trip is about. */
  choose(name: string): void
  /** Notes the arguments of a call. */
  noteArguments(node: FunctionNode, given: readonly Node[]): void
}

/** What calls gave for a parameter so far. */
type Given = Basis & { args: Node[] }

/** Opens a reader for one trip; `chosen` are the kinds that it is about. */
export function openReader(project: Project, chosen: readonly string[]): TripReader {
  const names = new Set(chosen)
  const given = new Map<FunctionNode, Given[]>()
  const memory = openMemory((node) => placeOf(project, node))
  function givenAt(node: FunctionNode, index: number): Given {
    const places = given.get(node) ?? []
    given.set(node, places)
    return (places[index] ??= { args: [], users: new Set() })
  }
  const reader: TripReader = {
    project,
    once: (text, node, work) => ask(memory, { text, node }, work),
    isChosen: (name) => names.has(name),
    choose(name) {
      if (names.has(name)) return
      names.add(name)
      memory.answers.clear()
    },
    valuesOf: (node) => reader.once("value", node, () => valuesOf(reader, node)),
    valuesOfType: (type) => reader.once("type", type, () => valuesOfType(reader, type)),
    returnedBy: (node) => reader.once("returned", node, () => returnedBy(reader, node)),
    valuesOfExport(path, name) {
      const source = project.sources.get(path)
      if (!source) return []
      if (name === "*") return [{ is: "file", node: source.program, source }]
      const declared = source.declared.get(name)
      return declared ? valuesOfDeclared(reader, declared, name) : []
    },
    membersOf: (values, name) => unique(membersOf(reader, values, name)),
    elementsOf: (values) => unique(elementsOf(reader, values)),
    argumentsFor(node, index) {
      const place = givenAt(node, index)
      noteUse(memory, place)
      return place.args
    },
    noteArguments(node, args) {
      for (const [index, argument] of args.entries()) {
        const place = givenAt(node, index)
        if (place.args.includes(argument)) continue
        if (reader.valuesOf(argument).every(isPlainText)) continue
        place.args.push(argument)
        askAgain(place)
      }
    },
  }
  return reader
}

function valuesOfDeclared(reader: Reader, declared: Node, name: string): Value[] {
  const meaning = meaningOfDeclared(declared, name)
  if (meaning.is !== "variable") {
    return isFunction(declared) || isClass(declared) || name === "default"
      ? reader.valuesOf(declared)
      : []
  }
  const { init } = meaning.declarator
  const values = init ? reader.valuesOf(init) : []
  return meaning.path.reduce((from, step) => reader.membersOf(from, step), values)
}

function placeOf(project: Project, node: Node): string {
  const { path, text } = project.sourceOf(node)
  return `${path}:${text.slice(0, node.start).split("\n").length}`
}

/** Whether a value is a text that is no path: nothing is found by these. */
function isPlainText(value: Value): boolean {
  return value.is === "text" && !value.text.startsWith("/")
}
