import type { CallExpression, NewExpression, Node } from "oxc-parser"
import { callbacksIn, calleeName, noteCallback } from "./callbacks.ts"
import { consumersOf, handlersBehind } from "./hops.ts"
import type { Door } from "./hops.ts"
import type { TripReader } from "./reader.ts"
import { handlersOf } from "./routes.ts"
import type { Handler, Routers } from "./routes.ts"
import {
  branchesOf,
  casesOf,
  goesRight,
  isForLater,
  isLogger,
  judge,
  makesFailure,
} from "./success.ts"
import type { Assumed, Outlook } from "./success.ts"
import { childrenOf, isClass, nameOf, unwrap } from "./syntax.ts"
import type { FunctionNode } from "./syntax.ts"

/** A function that a trip enters, and the file from which it does. */
export type CallStep = { from: string; to: string; name: string; depth: number }

export type Trip = {
  method: string
  path: string
  /** Ends when the request is answered: work given to `waitUntil` is not part of it. */
  endsAtAnswer: boolean
}

/** What holds for all trips. */
export type Ground = {
  doors: readonly Door[]
  assumed: Assumed
  /** Folders of pure rules: of these only the functions that are called from outside count. */
  sealed: readonly string[]
}

type Walk = Ground & {
  reader: TripReader
  routers: Routers
  trip: Trip
  steps: CallStep[]
  /** Names of all that is called. */
  called: Set<string>
  entered: Map<Node, Set<string | null>>
  /** The queue whose message is taken, inside the file that takes it. */
  queue: { name: string; file: string } | null
  depth: number
}

/**
 * Every function that a request enters where all goes well, each once, in the order of the source:
 * what stands before its handler, the handler, what these call, and what comes by Durable Objects,
 * queues and the protocol of the runner.
 */
export function walkTrip(
  reader: TripReader,
  routers: Routers,
  ground: Ground,
  trip: Trip,
): Pick<Walk, "steps" | "called"> {
  const walk: Walk = {
    ...ground,
    reader,
    routers,
    trip,
    steps: [],
    called: new Set(),
    entered: new Map(),
    queue: null,
    depth: 0,
  }
  for (const handler of handlersOf(routers, trip.method, trip.path)) {
    answer(walk, handler, pathOf(walk, handler.registeredIn))
  }
  return walk
}

/** Enters what runs for a request; a maker of operations is given the one that is asked for. */
function answer(walk: Walk, { handler, operation }: Omit<Handler, "registeredIn">, from: string) {
  for (const maker of operation ? functionsOf(walk, operation.call.callee) : []) {
    walk.reader.noteArguments(maker, operation?.call.arguments ?? [])
  }
  for (const node of functionsOf(walk, handler)) enter(walk, node, from)
}

/** Goes through a function, unless the trip has been there. */
function enter(walk: Walk, node: FunctionNode, from: string): void {
  const to = pathOf(walk, node)
  const queue = walk.queue?.file === to ? walk.queue : null
  const queues = walk.entered.get(node) ?? new Set()
  if (!node.body || queues.has(queue?.name ?? null)) return
  if (makesFailure(node, walk.assumed) || isLogger(node)) return
  if (walk.sealed.some((folder) => [from, to].every((path) => path.startsWith(`${folder}/`))))
    return
  walk.entered.set(node, queues.add(queue?.name ?? null))
  walk.steps.push({ from, to, name: nameOfFunction(node), depth: walk.depth })
  const inside = { ...walk, queue, depth: walk.depth + 1 }
  for (const parameter of node.params) visit(inside, parameter)
  visit(inside, node.body)
}

/** Follows the calls below a node, in the order in which they are made. */
function visit(walk: Walk, node: Node): void {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
    case "ClassDeclaration":
    case "ClassExpression":
    case "ThrowStatement":
    case "CatchClause":
      return
    case "BlockStatement":
      return visitBlock(walk, node.body)
    case "IfStatement":
      visit(walk, node.test)
      for (const branch of branchesOf(node, outlookOf(walk))) visit(walk, branch)
      return
    case "SwitchStatement":
      visit(walk, node.discriminant)
      for (const statements of casesOf(node, outlookOf(walk))) visitBlock(walk, statements)
      return
    case "ConditionalExpression": {
      const verdict = judge(node.test, outlookOf(walk))
      visit(walk, node.test)
      if (verdict !== false) visit(walk, node.consequent)
      if (verdict !== true) visit(walk, node.alternate)
      return
    }
    case "LogicalExpression":
      visit(walk, node.left)
      if (goesRight(node, outlookOf(walk))) visit(walk, node.right)
      return
    case "CallExpression":
      return visitCall(walk, node)
    case "NewExpression":
      return visitNew(walk, node)
    default:
      for (const child of childrenOf(node)) visit(walk, child)
  }
}

function visitBlock(walk: Walk, statements: readonly Node[]): void {
  for (const statement of statements) {
    visit(walk, statement)
    // What follows a branch that is taken for sure and leaves is not reached.
    if (statement.type !== "IfStatement" || !leaves(statement.consequent)) continue
    if (judge(statement.test, outlookOf(walk)) === true) return
  }
}

function leaves(statement: Node): boolean {
  if (statement.type === "BlockStatement") return statement.body.some(leaves)
  return statement.type === "ReturnStatement"
}

function visitCall(walk: Walk, call: CallExpression): void {
  const callee = unwrap(call.callee)
  const name = calleeName(callee) ?? ""
  walk.called.add(name)
  visit(walk, callee)
  if (walk.trip.endsAtAnswer && name === "waitUntil") return
  for (const argument of call.arguments) visit(walk, argument)
  const here = pathOf(walk, call)
  for (const handler of handlersBehind(walk.reader, walk.routers, walk.doors, call)) {
    answer(walk, handler, here)
  }
  for (const { queue, node } of consumersOf(walk.reader, callee)) {
    walk.reader.choose(queue)
    enter({ ...walk, queue: { name: queue, file: pathOf(walk, node) } }, node, here)
  }
  const called = functionsOf(walk, callee)
  for (const node of called) {
    walk.reader.noteArguments(node, call.arguments)
    enter(walk, node, here)
  }
  const [caller = call] = called
  for (const [index, argument] of call.arguments.entries()) {
    if (isForLater(name, call.arguments, index)) continue
    for (const node of callbacksIn(walk.reader, argument, called.length > 0)) {
      for (const giver of called) noteCallback(walk.reader, giver, index, node)
      enter(walk, node, pathOf(walk, caller))
    }
  }
}

function visitNew(walk: Walk, node: NewExpression): void {
  for (const argument of node.arguments) visit(walk, argument)
  const here = pathOf(walk, node)
  const made = walk.reader
    .valuesOf(node.callee)
    .flatMap(({ node: of }) => (isClass(of) ? [of] : []))
  for (const element of made.flatMap(({ body }) => body.body)) {
    if (element.type === "PropertyDefinition" && element.value) visit(walk, element.value)
    if (element.type !== "MethodDefinition" || element.kind !== "constructor") continue
    walk.reader.noteArguments(element.value, node.arguments)
    enter(walk, element.value, here)
  }
  for (const argument of made.length > 0 ? [] : node.arguments) {
    for (const callback of callbacksIn(walk.reader, argument, false)) enter(walk, callback, here)
  }
}

function functionsOf({ reader }: Walk, node: Node): FunctionNode[] {
  return reader.valuesOf(node).flatMap((value) => (value.is === "function" ? [value.node] : []))
}

function pathOf({ reader }: Walk, node: Node): string {
  return reader.project.sourceOf(node).path
}

function outlookOf({ reader, assumed, queue }: Walk): Outlook {
  return { reader, ...assumed, queue: queue?.name ?? null }
}

function nameOfFunction(node: FunctionNode): string {
  if (node.id) return node.id.name
  const { parent } = node
  if (parent?.type === "VariableDeclarator" && parent.id.type === "Identifier")
    return parent.id.name
  if (parent?.type === "MethodDefinition" || parent?.type === "Property") {
    return nameOf(parent.key) ?? "(computed)"
  }
  return "(callback)"
}
