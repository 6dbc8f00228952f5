import type { CallExpression, Node } from "oxc-parser"
import { findOperations, pathsOf } from "./operations.ts"
import type { Operation } from "./operations.ts"
import { descendantsOf, nameOf, unwrap } from "./syntax.ts"
import { textsOf } from "./texts.ts"
import type { Reader, Value } from "./value.ts"

/** One line of a router: what answers a method at a path, or stands before what does. */
type Line =
  | { is: "answer"; method: string; path: string; handlers: Node[] }
  | { is: "before"; path: string; handlers: Node[] }
  | { is: "mounted"; path: string; routers: Node[] }
  /** Methods and paths are computed: those of operations. */
  | { is: "operations"; handlers: Node[] }

/** The lines of each router of a project, in their order, by the expression that makes it. */
export type Routers = {
  lines: Map<Node, Line[]>
  operations: (Pick<Operation, "method"> & { path: string; operation: Operation })[]
}

const METHODS = new Set("get post put patch delete all".split(" "))

export function findRouters(reader: Reader): Routers {
  const routers = new Map<Node, Line[]>()
  for (const { program } of reader.project.sources.values()) {
    for (const node of descendantsOf(program)) {
      for (const [router, line] of readLine(reader, node)) {
        routers.set(router, [...(routers.get(router) ?? []), line])
      }
    }
  }
  const operations = findOperations(reader.project).flatMap((operation) =>
    pathsOf(reader, operation).map((path) => ({ method: operation.method, path, operation })),
  )
  // A path without parameters comes first, so that none of its words is taken for one; and of the
  // same path the one that is written as it is, before one that any kind may have.
  operations.sort(
    (one, other) =>
      parametersIn(one.path) - parametersIn(other.path) ||
      Number(isTemplate(one.operation)) - Number(isTemplate(other.operation)),
  )
  return {
    lines: new Map([...routers].map(([router, lines]) => [router, inOrder(lines)])),
    operations,
  }
}

function isTemplate({ path }: Operation): boolean {
  return path.type === "TemplateLiteral"
}

/** What runs for a request, the router that the request comes to, and the operation asked for. */
export type Handler = { handler: Node; registeredIn: Node; operation: Operation | null }

type Found = Omit<Handler, "registeredIn">

/**
 * All that runs for a request, in its order: what stands before the handler, and the handler. Where
 * the method is not known it is most likely GET, and what takes every method is not meant.
 */
export function handlersOf(routers: Routers, method: string | null, path: string): Handler[] {
  const { lines } = routers
  const mounted = new Set(
    [...lines.values()].flat().flatMap((line) => (line.is === "mounted" ? line.routers : [])),
  )
  for (const router of lines.keys()) {
    const found = mounted.has(router) ? null : findIn(routers, router, method, path)
    if (found) return found.map((each) => ({ ...each, registeredIn: router }))
  }
  return []
}

function findIn(
  routers: Routers,
  router: Node,
  method: string | null,
  path: string,
): Found[] | null {
  const before: Found[] = []
  for (const line of routers.lines.get(router) ?? []) {
    if (line.is === "before" && patternOf(line.path, "/?$").test(path)) {
      before.push(...foundIn(line.handlers))
    }
    if (line.is === "answer" && patternOf(line.path, "/?$").test(path)) {
      if (line.method === (method ?? "GET") || (method && line.method === "ALL")) {
        return [...before, ...foundIn(line.handlers)]
      }
    }
    if (line.is === "operations") {
      const asked = routers.operations.find(
        (each) => each.method === method && patternOf(each.path, "/?$").test(path),
      )
      if (asked) return [...before, ...foundIn(line.handlers, asked.operation)]
    }
    const start =
      line.is === "mounted" ? patternOf(line.path, "(?=/|$)").exec(path)?.[0] : undefined
    if (line.is !== "mounted" || start === undefined) continue
    const rest = path.slice(start.length) || "/"
    const inner = line.routers.flatMap((each) => findIn(routers, each, method, rest) ?? [])
    if (inner.length > 0) return [...before, ...inner]
  }
  return null
}

function foundIn(handlers: readonly Node[], operation: Operation | null = null): Found[] {
  return handlers.map((handler) => ({ handler, operation }))
}

function parametersIn(path: string): number {
  return path.split(/:\w|\{\}/).length - 1
}

/** The paths that a route means; `{}` is a part that is computed. */
function patternOf(path: string, end: string): RegExp {
  const source = path
    .replace(/\/$/, "")
    .replaceAll(/:\w+(?:\{[^/]*\})?\??/g, "\0")
    .replaceAll(/[.+?^$()[\]\\|]/g, String.raw`\$&`)
    .replaceAll("{}", "\0")
    .replaceAll("*", ".*")
    .replaceAll("\0", "[^/]+")
  return new RegExp(`^${source}${end}`)
}

function readLine(reader: Reader, node: Node): [Node, Line][] {
  const options = node.type === "NewExpression" || node.type === "CallExpression" ? node : null
  if (!options) return []
  const callee = unwrap(options.callee)
  if (callee.type === "Identifier") return readOptions(reader, node, options.arguments)
  if (callee.type !== "MemberExpression" || node.type !== "CallExpression") return []
  const name = nameOf(callee.property, callee.computed) ?? ""
  if (!METHODS.has(name) && !["use", "route", "on"].includes(name)) return []
  const routers = reader.valuesOf(callee.object).filter(isRouter)
  const lines = routers.length > 0 ? linesOf(reader, name, node) : []
  return routers.flatMap((router) => lines.map((line): [Node, Line] => [router.node, line]))
}

/** What itty-router is told to run before all routes. */
function readOptions(reader: Reader, node: Node, given: readonly Node[]): [Node, Line][] {
  const [options] = given
  if (options?.type !== "ObjectExpression") return []
  if (!reader.valuesOf(node).some(isRouter)) return []
  const before = options.properties.find(
    (each) => each.type === "Property" && nameOf(each.key, each.computed) === "before",
  )
  if (before?.type !== "Property" || before.value.type !== "ArrayExpression") return []
  const handlers = before.value.elements.flatMap((each) => each ?? [])
  return [[node, { is: "before", path: "*", handlers }]]
}

function linesOf(reader: Reader, name: string, call: CallExpression): Line[] {
  const [first, ...rest] = call.arguments
  if (!first) return []
  // Only the list of operations says which these are: `on(method, [path], handler)`.
  if (name === "on") return [{ is: "operations", handlers: rest.slice(1) }]
  const paths = textsOf(reader, first).filter((text) => /^[/*]/.test(text))
  if (name === "use" && paths.length === 0) {
    return [{ is: "before", path: "*", handlers: [first, ...rest] }]
  }
  return paths.map((path): Line => {
    if (name === "use") return { is: "before", path, handlers: rest }
    if (name !== "route") return { is: "answer", method: name.toUpperCase(), path, handlers: rest }
    const routers = rest.flatMap((each) => reader.valuesOf(each).filter(isRouter))
    return { is: "mounted", path, routers: routers.map(({ node }) => node) }
  })
}

function isRouter({ is }: Value): boolean {
  return is === "router"
}

/** itty-router's chained calls are nested, the last outside: what stands before all comes first. */
function inOrder(lines: Line[]): Line[] {
  const general = lines.filter((line) => line.is === "before" && line.path === "*")
  return [...general, ...lines.filter((line) => !general.includes(line))]
}
