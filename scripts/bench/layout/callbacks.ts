import type { CallExpression, Node } from "oxc-parser"
import { operationsGiven } from "./operations.ts"
import type { TripReader } from "./reader.ts"
import { meaningOf } from "./scope.ts"
import { childrenOf, descendantsOf, isClass, isFunction, nameOf, unwrap } from "./syntax.ts"
import type { FunctionNode } from "./syntax.ts"

/** The last name of what is called; null where it has none. */
export function calleeName(callee: Node): string | null {
  if (callee.type === "Identifier") return callee.name
  return callee.type === "MemberExpression" ? nameOf(callee.property, callee.computed) : null
}

/**
 * Functions among what a call is given. Members of an object are called by functions of packages;
 * a function of the project shows itself when it calls one.
 */
export function callbacksIn(reader: TripReader, argument: Node, isKnown: boolean): FunctionNode[] {
  const node = unwrap(argument)
  if (isFunction(node)) return [node]
  if (node.type === "Identifier" || node.type === "MemberExpression") {
    return reader.valuesOf(node).flatMap((value) => (value.is === "function" ? [value.node] : []))
  }
  if (node.type !== "ObjectExpression" || isKnown) return []
  return node.properties.flatMap((property) =>
    property.type === "Property" ? callbacksIn(reader, property.value, isKnown) : [],
  )
}

/** Notes what a function gives to a callback that is one of its parameters. */
export function noteCallback(
  reader: TripReader,
  giver: FunctionNode,
  index: number,
  callback: FunctionNode,
): void {
  for (const node of giver.body ? descendantsOf(giver.body) : []) {
    if (node.type !== "CallExpression" || node.callee.type !== "Identifier") continue
    const meaning = meaningOf(reader.project.sourceOf(giver), node.callee.name, node.callee)
    if (meaning?.is !== "parameter" || meaning.of !== giver || meaning.index !== index) continue
    reader.noteArguments(callback, node.arguments)
  }
}

/**
 * Notes what calls give that are made once, before any request: those at the top of files, also in
 * callbacks of collections there. Of the calls of one function, those that are given a kind of the
 * trip are noted, where there are any; what a maker of operations is given depends on the request.
 */
export function noteStart(reader: TripReader): void {
  const calls = [...reader.project.sources.values()].flatMap(({ program }) => callsAtStart(program))
  const givers = new Map<FunctionNode, CallExpression[]>()
  for (const call of calls) {
    if (operationsGiven(call).length > 0) continue
    for (const value of reader.valuesOf(call.callee)) {
      if (value.is !== "function") continue
      givers.set(value.node, [...(givers.get(value.node) ?? []), call])
    }
  }
  for (const [called, all] of givers) {
    const chosen = all.filter((call) => isAboutTrip(reader, call))
    for (const call of chosen.length > 0 ? chosen : all) noteCall(reader, called, call)
  }
}

function noteCall(reader: TripReader, called: FunctionNode, call: CallExpression): void {
  reader.noteArguments(called, call.arguments)
  for (const [index, argument] of call.arguments.entries()) {
    for (const callback of callbacksIn(reader, argument, true)) {
      noteCallback(reader, called, index, callback)
    }
  }
}

function isAboutTrip(reader: TripReader, call: CallExpression): boolean {
  return call.arguments.some((argument) =>
    reader
      .membersOf(
        reader.valuesOf(argument).filter(({ is }) => is === "object"),
        "name",
      )
      .some((each) => each.is === "text" && reader.isChosen(each.text)),
  )
}

function callsAtStart(node: Node): CallExpression[] {
  if (isClass(node)) return []
  if (isFunction(node) && !isRunAtOnce(node)) return []
  const inner = childrenOf(node).flatMap(callsAtStart)
  return node.type === "CallExpression" ? [node, ...inner] : inner
}

/** Whether a function is a callback of a method of a collection. */
function isRunAtOnce({ parent }: FunctionNode): boolean {
  if (parent?.type !== "CallExpression") return false
  return /^(?:map|flatMap|filter|forEach)$/.test(calleeName(unwrap(parent.callee)) ?? "")
}
