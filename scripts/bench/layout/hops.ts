import type { CallExpression, Node } from "oxc-parser"
import { handlersOf } from "./routes.ts"
import type { Handler, Routers } from "./routes.ts"
import { textOf, unwrap } from "./syntax.ts"
import type { FunctionNode } from "./syntax.ts"
import { textsOf } from "./texts.ts"
import type { Reader } from "./value.ts"

/** A side that asks another by HTTP: `base` comes before the paths that stand in its source. */
export type Door = { from: string; to: string; base: string }

/** What answers a call on the other side, where the call names a path that has a route there. */
export function handlersBehind(
  reader: Reader,
  routers: Routers,
  doors: readonly Door[],
  call: CallExpression,
): Handler[] {
  const texts = call.arguments.flatMap((argument) => textsIn(reader, argument))
  const paths = texts.flatMap((text) => (text.startsWith("/") ? [text.replace(/\?.*/s, "")] : []))
  if (paths.length === 0) return []
  const methods = texts.filter((text) => /^(?:GET|POST|PUT|PATCH|DELETE)$/.test(text))
  const here = reader.project.sourceOf(call).path
  return doors
    .filter(({ from }) => here.startsWith(`${from}/`))
    .flatMap(({ to, base }) =>
      paths.flatMap((path) =>
        (methods.length > 0 ? methods : [null])
          .flatMap((method) => handlersOf(routers, method, base + path))
          .filter(({ handler }) => reader.project.sourceOf(handler).path.startsWith(`${to}/`)),
      ),
    )
}

/** The `queue` handlers of Workers, where a call sends to a queue. */
export function consumersOf(reader: Reader, callee: Node): { queue: string; node: FunctionNode }[] {
  if (callee.type !== "MemberExpression") return []
  return reader.valuesOf(callee.object).flatMap((value) => {
    if (value.is !== "queue") return []
    const workers = [...reader.project.sources.keys()].flatMap((path) =>
      reader.valuesOfExport(path, "default"),
    )
    return workers
      .flatMap((worker) => reader.membersOf([worker], "queue"))
      .flatMap((each) => (each.is === "function" ? [{ queue: value.name, node: each.node }] : []))
  })
}

function textsIn(reader: Reader, argument: Node): string[] {
  const node = unwrap(argument)
  if (node.type !== "ObjectExpression") return textsOf(reader, node)
  return node.properties.flatMap((property) => {
    const text = property.type === "Property" ? textOf(property.value) : null
    return text === null ? [] : [text]
  })
}
