/** An expression of ffmpeg's as a tree; operators are calls too. */
export type Expression =
  | { kind: "number"; value: number }
  | { kind: "name"; name: string }
  | { kind: "call"; name: string; values: Expression[] }

/** Why a text is no expression: what stands where nothing can be read, or a name that there is not. */
export type ExpressionFault =
  | { why: "name" | "function"; name: string }
  | { why: "rest" | "gap" | "unclosed"; at: string }
  | { why: "count"; name: string; counts: string }

/** Names that an expression may have: variables beside the constants, and functions of its place. */
export type ExpressionNames = {
  variables: readonly string[]
  functions?: readonly string[]
}

/** How many values functions take. */
const COUNTS: Record<string, string> = {
  "1": "sinh cosh tanh sin cos tan atan asin acos exp log abs time squish gauss ld isnan isinf floor ceil trunc round sqrt not random sgn",
  "2": "mod max min eq gt gte lt lte pow hypot gcd st while root atan2 bitand bitor",
  "1 or 2": "print",
  "2 or 3": "if ifnot taylor",
  "3": "between clip lerp randomi",
}
const COUNT_OF = new Map(
  Object.entries(COUNTS).flatMap(([counts, names]) =>
    names.split(" ").map((name) => [name, counts] as const),
  ),
)
/** Functions of all expressions. */
export const FUNCTION_NAMES: readonly string[] = [...COUNT_OF.keys()]

/** Constants of all expressions. */
export const CONSTANTS: Record<string, number> = {
  PI: Math.PI,
  E: Math.E,
  PHI: (1 + Math.sqrt(5)) / 2,
  QP2LAMBDA: 118,
}

/** Powers of ten of the letters behind numbers. */
const POWERS: Record<string, number> = {
  y: -24,
  z: -21,
  a: -18,
  f: -15,
  p: -12,
  n: -9,
  u: -6,
  m: -3,
  c: -2,
  d: -1,
  h: 2,
  k: 3,
  K: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
  Z: 21,
  Y: 24,
}

const NUMBER =
  /(0x[\da-f]+(?:\.[\da-f]*)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|(?:inf(?:inity)?|nan)(?!\w))/iy
const SIGNED_DECIBELS = /-(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?dB/iy
const WORD = /[A-Za-z_]\w*/y
/** Deeper and longer expressions are left to ffmpeg. */
const DEPTH_MAX = 50
const LENGTH_MAX = 4096

type Reader = { text: string; at: number; depth: number; names: ExpressionNames }
type Read = Expression | ExpressionFault

/** Reads an expression as `av_expr_parse` of ffmpeg does; null for one too long or too deep to judge. */
export function readExpression(given: string, names: ExpressionNames): Read | null {
  if (given.length > LENGTH_MAX) return null
  const reader = { text: given.replace(/[ \t\n\r\f\v]/g, ""), at: 0, depth: 0, names }
  try {
    const read = readAll(reader)
    if (!("kind" in read) || reader.at === reader.text.length) return read
    return { why: "rest", at: reader.text.slice(reader.at) }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function readAll(reader: Reader): Read {
  reader.depth += 1
  if (reader.depth > DEPTH_MAX) throw new RangeError("too deep")
  const read = readChain(reader, ";", () => readChain(reader, "+-", () => readProduct(reader)))
  reader.depth -= 1
  return read
}

function readProduct(reader: Reader): Read {
  return readChain(reader, "*/", () => readPower(reader))
}

/** Parts with some operator between them, from the left. */
function readChain(reader: Reader, operators: string, readPart: () => Read): Read {
  let left = readPart()
  while ("kind" in left && peek(reader) !== "" && operators.includes(peek(reader))) {
    const name = peek(reader)
    reader.at += 1
    const right = readPart()
    if (!("kind" in right)) return right
    left = { kind: "call", name, values: [left, right] }
  }
  return left
}

function readPower(reader: Reader): Read {
  const isMinus = readSign(reader)
  let left = readPrimary(reader)
  while ("kind" in left && peek(reader) === "^") {
    reader.at += 1
    const isNegative = readSign(reader)
    const right = readPrimary(reader)
    if (!("kind" in right)) return right
    left = { kind: "call", name: "pow", values: [left, isNegative ? negate(right) : right] }
  }
  return "kind" in left && isMinus ? negate(left) : left
}

function negate(value: Expression): Expression {
  return { kind: "call", name: "*", values: [{ kind: "number", value: -1 }, value] }
}

/** Whether a minus stands here, that is not one of decibels. */
function readSign(reader: Reader): boolean {
  SIGNED_DECIBELS.lastIndex = reader.at
  if (SIGNED_DECIBELS.test(reader.text)) return false
  const sign = peek(reader)
  if (sign !== "-" && sign !== "+") return false
  reader.at += 1
  return sign === "-"
}

function peek({ text, at }: Reader): string {
  return text.charAt(at)
}

function readPrimary(reader: Reader): Read {
  const { text, names } = reader
  const number = readNumberAt(text, reader.at)
  if (number) {
    reader.at = number.end
    return { kind: "number", value: number.value }
  }
  if (peek(reader) === "(") {
    reader.at += 1
    const inner = readAll(reader)
    if (!("kind" in inner)) return inner
    return close(reader) ?? inner
  }
  WORD.lastIndex = reader.at
  const name = WORD.exec(text)?.[0]
  if (name === undefined) return { why: "gap", at: text.slice(0, reader.at) }
  const next = text.charAt(reader.at + name.length)
  if (names.variables.includes(name) || Object.hasOwn(CONSTANTS, name)) {
    reader.at += name.length
    return { kind: "name", name }
  }
  if (next !== "(") return { why: "name", name }
  reader.at += name.length + 1
  return readCall(reader, name)
}

function readCall(reader: Reader, name: string): Read {
  const values: Expression[] = []
  do {
    if (values.length > 0) reader.at += 1
    const value = readAll(reader)
    if (!("kind" in value)) return value
    values.push(value)
  } while (peek(reader) === "," && values.length < 3)
  const isOwn = reader.names.functions?.includes(name) ?? false
  const counts = COUNT_OF.get(name)
  if (counts === undefined && !isOwn) return { why: "function", name }
  if (peek(reader) === ",") return { why: "count", name, counts: counts ?? "fewer" }
  const open = close(reader)
  if (open) return open
  if (counts !== undefined && !isOwn && !counts.includes(String(values.length))) {
    return { why: "count", name, counts }
  }
  return { kind: "call", name, values }
}

function close(reader: Reader): ExpressionFault | null {
  if (peek(reader) === ")") {
    reader.at += 1
    return null
  }
  const rest = reader.text.slice(reader.at)
  return rest === "" ? { why: "unclosed", at: reader.text } : { why: "rest", at: rest }
}

/** A whole text as a number with the letters that ffmpeg takes behind one; null for what is none. */
export function readNumber(text: string): number | null {
  const isMinus = text.startsWith("-") && !text.endsWith("dB")
  const plain = isMinus ? text.slice(1) : text.replace(/^\+/, "")
  const found = readNumberAt(plain, 0)
  if (found?.end !== plain.length) return null
  return isMinus ? -found.value : found.value
}

/** A number that stands at a place, and where it ends. */
function readNumberAt(text: string, from: number): { value: number; end: number } | null {
  const isDecibels = text.charAt(from) === "-"
  NUMBER.lastIndex = isDecibels ? from + 1 : from
  const found = NUMBER.exec(text)?.[0]
  if (found === undefined) return null
  const plain = valueOf(found)
  const value = isDecibels ? -plain : plain
  return readLetters(text, NUMBER.lastIndex, value)
}

function valueOf(found: string): number {
  if (/^n/i.test(found)) return Number.NaN
  if (/^i/i.test(found)) return Infinity
  return /^0x/i.test(found) ? Number.parseInt(found, 16) : Number.parseFloat(found)
}

function readLetters(text: string, from: number, plain: number) {
  let end = from
  let value = plain
  if (text.startsWith("dB", end)) {
    value = 10 ** (value / 20)
    end += 2
  } else {
    const power = POWERS[text.charAt(end)]
    if (power !== undefined) {
      const isBinary = text.charAt(end + 1) === "i"
      value *= isBinary ? 2 ** ((power / 3) * 10) : 10 ** power
      end += isBinary ? 2 : 1
    }
  }
  if (text.charAt(end) === "B") return { value: value * 8, end: end + 1 }
  return { value, end }
}

const OPERATIONS: Record<string, (a: number, b: number, c: number | undefined) => number> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  pow: (a, b) => a ** b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  mod: (a, b) => a - Math.floor(b === 0 ? 0 : a / b) * b,
  floor: (a) => Math.floor(a),
  ceil: (a) => Math.ceil(a),
  trunc: (a) => Math.trunc(a),
  round: (a) => Math.sign(a) * Math.round(Math.abs(a)),
  sqrt: (a) => Math.sqrt(a),
  abs: (a) => Math.abs(a),
  eq: (a, b) => Number(a === b),
  gt: (a, b) => Number(a > b),
  gte: (a, b) => Number(a >= b),
  lt: (a, b) => Number(a < b),
  lte: (a, b) => Number(a <= b),
  not: (a) => Number(a === 0),
  if: (a, b, c = 0) => (a === 0 ? c : b),
  ifnot: (a, b, c = 0) => (a === 0 ? b : c),
  clip: (a, b, c = 0) => Math.min(Math.max(a, b), c),
  between: (a, b, c = 0) => Number(a >= b && a <= c),
}

/** The number that an expression has where its names have these values; null where that is not known. */
export function evaluate(
  expression: Expression,
  values: Readonly<Record<string, number>>,
): number | null {
  if (expression.kind === "number") return expression.value
  const { name } = expression
  if (expression.kind === "name") {
    if (Object.hasOwn(values, name)) return values[name] ?? null
    return Object.hasOwn(CONSTANTS, name) ? (CONSTANTS[name] ?? null) : null
  }
  const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined
  const [first, second, third] = expression.values.map((value) => evaluate(value, values))
  if (!operation || first === null || second === null || third === null) return null
  return operation(first ?? 0, second ?? 0, third)
}
