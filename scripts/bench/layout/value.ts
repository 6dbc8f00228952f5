import type { Class, Node, ObjectExpression } from "oxc-parser"
import type { Source } from "./source.ts"
import type { FunctionNode } from "./syntax.ts"

/** What an expression may come to, as far as a reader of the source can tell. */
export type Value =
  | { is: "function"; node: FunctionNode }
  | { is: "object"; node: ObjectExpression }
  | { is: "instance"; node: Class }
  | { is: "class"; node: Class }
  /**
   * An array, a set or a map of what these expressions come to; grouped ones are a map of arrays
   * of what their one expression holds.
   */
  | { is: "items"; node: Node; items: Node[]; isGrouped?: boolean }
  /** An object of which only the type is known. */
  | { is: "shape"; node: Node }
  /** All that a file exports. */
  | { is: "file"; node: Node; source: Source }
  /** A binding that leads to Durable Objects of a class. */
  | { is: "objects"; node: Class }
  /** A binding that sends to a queue. */
  | { is: "queue"; node: Node; name: string }
  /** An app of Hono or a router of itty-router, by the expression that makes it. */
  | { is: "router"; node: Node }
  | { is: "text"; node: Node; text: string }

/** What reads values; its parts call each other by it. */
export type Reader = {
  project: Project
  /** Whether this is a kind or a queue that the trip is about: where names choose, these are chosen. */
  isChosen(name: string): boolean
  /** Answers a question about a node once; nothing where its answer would need itself. */
  once(question: string, node: Node, answer: () => Value[]): Value[]
  valuesOf(node: Node): Value[]
  valuesOfType(type: Node): Value[]
  /** What a name at the top of a file is. */
  valuesOfExport(path: string, name: string): Value[]
  membersOf(values: readonly Value[], name: string): Value[]
  elementsOf(values: readonly Value[]): Value[]
  /** What a function may return. */
  returnedBy(node: FunctionNode): Value[]
  /** Arguments that the trip has given for a parameter so far. */
  argumentsFor(node: FunctionNode, index: number): Node[]
}

/** What is known of a project before any trip. */
export type Project = {
  sources: Map<string, Source>
  /** The file that a node is part of. */
  sourceOf(node: Node): Source
  /** The declaration that a name of a type stands for; null where it is not of the project. */
  typeNamed(name: string, place: Node): Node | null
  /** Functions that are declared to return a type, by the type's declaration. */
  makers: Map<Node, FunctionNode[]>
  /** Expressions that are declared to be of a type, by the type's declaration. */
  examples: Map<Node, Node[]>
  /** The class that a declared type stands for: itself, or one that is declared to implement it. */
  classes: Map<Node, Class>
  /** Bindings that lead to Durable Objects, by name. */
  objects: Map<string, Class>
  /** Names of the queues that bindings send to. */
  queues: Map<string, string>
  /** Values that are given to members later, by the name of the member. */
  assigned: Map<string, { object: Node; value: Node }[]>
}
