import type { Node } from "oxc-parser"
import { textOf } from "./syntax.ts"
import type { Reader } from "./value.ts"

/**
 * Texts that an expression may come to, names in it replaced by what they stand for; `{}` is in
 * the place of what cannot be known.
 */
export function textsOf(reader: Reader, node: Node): string[] {
  if (node.type !== "TemplateLiteral") {
    const text = textOf(node)
    if (text !== null) return [text]
    return reader.valuesOf(node).flatMap((value) => (value.is === "text" ? [value.text] : []))
  }
  return node.quasis.reduce<string[]>(
    (starts, { value }, index) => {
      const before = index === 0 ? undefined : node.expressions[index - 1]
      const known = before ? textsOf(reader, before) : [""]
      const filled = known.length > 0 ? known : ["{}"]
      return starts.flatMap((start) =>
        filled.map((text) => start + text + (value.cooked ?? value.raw)),
      )
    },
    [""],
  )
}
