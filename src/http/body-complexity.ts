import { unprocessables } from "./problem.ts"

/** Fields and items that a body may hold at all depths: more than any request has use for. */
const VALUES_MAX = 2000
const DEPTH_MAX = 32

/**
 * Refuses a JSON text of more values than are parsed and judged in time: 422 `too_complex`, which names
 * the field that holds most of them, or `root` where the text is no object. Values are counted, since no
 * clock of a Worker goes on while it computes.
 */
export function requireSimple(text: string, root = "body"): void {
  // Any other text ends a parser at its first sign.
  if (!/^\s*[{[]/.test(text)) return
  const { count, depth, largest } = measure(text)
  if (depth > DEPTH_MAX) {
    throw refuse(largest.name ?? root, `it nests deeper than ${DEPTH_MAX} levels`)
  }
  if (count <= VALUES_MAX) return
  const isOfField = largest.name !== null && largest.count > count / 2
  const field = isOfField ? (largest.name ?? root) : root
  const held = isOfField ? largest.count : count
  throw refuse(field, `it holds ${held} values; expected at most ${VALUES_MAX} in the whole body`)
}

function refuse(field: string, message: string) {
  return unprocessables([{ field, code: "too_complex", message }])
}

/** A field of the outermost object, and how many values it holds; its name is null outside of one. */
type FieldSize = { name: string | null; count: number }

type Measure = { count: number; depth: number; largest: FieldSize }

const SIGN = /["{}[\],:]/g

/** Counts the values of a JSON text and how deep it nests, without parsing it. */
function measure(text: string): Measure {
  let depth = 0
  let field: FieldSize = { name: null, count: 0 }
  const found: Measure = { count: 0, depth: 0, largest: field }
  let word = ""
  SIGN.lastIndex = 0
  for (let sign = SIGN.exec(text); sign; sign = SIGN.exec(text)) {
    const [character] = sign
    if (character === '"') {
      const end = endOfText(text, sign.index + 1)
      if (depth === 1) word = text.slice(sign.index + 1, end)
      SIGN.lastIndex = end + 1
    } else if (character === ":") {
      if (depth === 1) field = { name: word, count: 0 }
    } else if (character === "}" || character === "]") {
      depth -= 1
    } else {
      if (character !== ",") depth += 1
      found.depth = Math.max(found.depth, depth)
      found.count += 1
      field.count += 1
    }
    if (field.count > found.largest.count) found.largest = field
  }
  return found
}

/** The place of the quote that ends a text of JSON, or the end of all. */
function endOfText(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end >= 0 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, at: number, from: number): boolean {
  let slashes = 0
  while (at - 1 - slashes >= from && text.charAt(at - 1 - slashes) === "\\") slashes += 1
  return slashes % 2 === 1
}
