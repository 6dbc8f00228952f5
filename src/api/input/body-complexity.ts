import { invalidFieldsProblem } from "../output/problem.ts"

/** Maximum number of JSON values in a request body, at all depths. No real request has as many. */
const VALUES_MAX = 2000
const DEPTH_MAX = 32

/**
 * Throws 422 `too_complex` for a JSON text with too many values or levels of nesting, before the
 * text is parsed. The limit counts values, not time, because the clock of a Worker stands still
 * during computation. The fault names the largest field, or `root`.
 */
export function requireJsonWithinLimits(text: string, root = "body"): void {
  // Only an object or an array can hold many values, so `JSON.parse` of any other text is fast.
  if (!/^\s*[{[]/.test(text)) return
  const { count, depth, largest } = measureJson(text)
  if (depth > DEPTH_MAX) {
    throw tooComplexProblem(largest.name ?? root, `expected at most ${DEPTH_MAX} levels of nesting`)
  }
  if (count <= VALUES_MAX) return
  const isOfField = largest.name !== null && largest.count > count / 2
  const field = isOfField ? (largest.name ?? root) : root
  const values = isOfField ? largest.count : count
  throw tooComplexProblem(field, `the body has ${values} values; expected at most ${VALUES_MAX}`)
}

function tooComplexProblem(field: string, message: string) {
  return invalidFieldsProblem([{ field, code: "too_complex", message }])
}

/**
 * Top-level field of a JSON object, and the number of JSON values in the field; `name` is null if
 * the JSON is no object.
 */
type FieldSize = { name: string | null; count: number }

type JsonSize = { count: number; depth: number; largest: FieldSize }

const TOKEN = /["{}[\],:]/g

/** Counts the values and the nesting depth of a JSON text without parsing the text. */
function measureJson(text: string): JsonSize {
  let depth = 0
  let field: FieldSize = { name: null, count: 0 }
  const measured: JsonSize = { count: 0, depth: 0, largest: field }
  let word = ""
  TOKEN.lastIndex = 0
  for (let sign = TOKEN.exec(text); sign; sign = TOKEN.exec(text)) {
    const [character] = sign
    if (character === '"') {
      const end = findStringEnd(text, sign.index + 1)
      if (depth === 1) word = text.slice(sign.index + 1, end)
      TOKEN.lastIndex = end + 1
    } else if (character === ":") {
      if (depth === 1) field = { name: word, count: 0 }
    } else if (character === "}" || character === "]") {
      depth -= 1
    } else {
      if (character !== ",") depth += 1
      measured.depth = Math.max(measured.depth, depth)
      measured.count += 1
      field.count += 1
    }
    if (field.count > measured.largest.count) measured.largest = field
  }
  return measured
}

/**
 * Returns the index of the closing quote of a JSON string; the length of the text if no quote
 * closes the string.
 */
function findStringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end >= 0 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, at: number, from: number): boolean {
  let slashes = 0
  while (at - 1 - slashes >= from && text.charAt(at - 1 - slashes) === "\\") slashes += 1
  return slashes % 2 === 1
}
