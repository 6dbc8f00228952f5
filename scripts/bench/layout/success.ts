import type {
  CallExpression,
  IfStatement,
  LogicalExpression,
  Node,
  SwitchStatement,
} from "oxc-parser"
import { meaningOf } from "./scope.ts"
import type { FunctionNode } from "./syntax.ts"
import { descendantsOf, nameOf, textOf, unwrap } from "./syntax.ts"
import type { Reader } from "./value.ts"

const LOGS = new Set(["console", "stdout", "stderr"])

/** What holds on a trip where all goes well. */
export type Assumed = {
  /** Words that a value may be compared with, and is not. */
  unchosen: ReadonlySet<string>
  /** Names of what the request leaves out: they are null. */
  absent: ReadonlySet<string>
  /** Names of what is there for sure. */
  present: ReadonlySet<string>
  /** Types that only failures are of. */
  failureTypes: ReadonlySet<string>
}

/** What decides the branches of a trip at a place. */
export type Outlook = Assumed & {
  reader: Reader
  /** The queue whose message is taken, while one is. */
  queue: string | null
}

/** The branches of an `if` that a trip may take where all goes well. */
export function branchesOf(node: IfStatement, outlook: Outlook): Node[] {
  const verdict = judge(node.test, outlook)
  const { consequent, alternate } = node
  return [
    ...(verdict === false || endsInThrow(consequent) ? [] : [consequent]),
    ...(verdict === true || !alternate || endsInThrow(alternate) ? [] : [alternate]),
  ]
}

/** Whether the right side of `&&`, `||` or `??` may be needed. */
export function goesRight(node: LogicalExpression, outlook: Outlook): boolean {
  if (node.operator !== "??") return judge(node.left, outlook) !== (node.operator === "||")
  const left = unwrap(node.left)
  const isFound = left.type === "CallExpression" && calledBy(left, outlook).length > 0
  return !isFound || isAbsent(left, outlook)
}

/** The cases of a `switch` that a trip takes: those of its kind, else all that do not throw. */
export function casesOf(node: SwitchStatement, { reader }: Outlook): Node[][] {
  const named = node.cases.filter(({ test }) => test && reader.isChosen(textOf(test) ?? ""))
  const taken = named.length > 0 ? named : node.cases
  return taken
    .map(({ consequent }) => consequent)
    .filter((statements) => statements.at(-1)?.type !== "ThrowStatement")
}

/** Whether a test holds on a trip; null where that is not known. */
export function judge(test: Node, outlook: Outlook): boolean | null {
  const node = unwrap(test)
  if (node.type === "UnaryExpression" && node.operator === "!") {
    const verdict = judge(node.argument, outlook)
    return verdict === null ? null : !verdict
  }
  if (node.type === "LogicalExpression") {
    const verdicts = [judge(node.left, outlook), judge(node.right, outlook)]
    const settling = node.operator === "||"
    if (node.operator !== "??" && verdicts.includes(settling)) return settling
    return verdicts.every((each) => each === !settling) ? !settling : null
  }
  if (outlook.present.has(lastName(node) ?? "")) return true
  if (isAbsent(node, outlook)) return false
  if (node.type === "CallExpression") return judgeQueue(node, outlook) ?? judgeAnswer(node, outlook)
  if (node.type !== "BinaryExpression") return null
  const counted = lengthOf(node.left)
  if (counted && isAbsent(counted, outlook)) return judgeZero(node.operator, node.right)
  const isNullCheck = node.right.type === "Literal" && node.right.value === null
  if (isNullCheck && isAbsent(node.left, outlook)) {
    return node.operator === "===" || node.operator === "=="
  }
  const texts = [node.left, node.right].map((side) => textOf(side))
  const text = texts.find((each) => each !== null)
  if (text === undefined || text === null || !outlook.unchosen.has(text)) return null
  if (node.operator === "===") return false
  return node.operator === "!==" ? true : null
}

/** Whether an argument of a call is for when it fails, or is called by a timer. */
export function isForLater(name: string, given: readonly Node[], index: number): boolean {
  const [event] = given
  const heard = event ? textOf(event) : null
  return (
    name === "catch" ||
    name === "setTimeout" ||
    name === "setInterval" ||
    name === "onError" ||
    (name === "then" && index === 1) ||
    heard === "abort" ||
    heard === "error"
  )
}

function lastName(node: Node): string | null {
  if (node.type === "Identifier") return node.name
  return node.type === "MemberExpression" ? nameOf(node.property, node.computed) : null
}

function lengthOf(node: Node): Node | null {
  return node.type === "MemberExpression" && lastName(node) === "length" ? node.object : null
}

/** Whether a comparison holds for a length of 0. */
function judgeZero(operator: string, right: Node): boolean | null {
  if (right.type !== "Literal" || right.value !== 0) return null
  if (operator === "===") return true
  return operator === ">" || operator === "!==" ? false : null
}

/** Whether an expression is null on a trip: left out by the request, or a failure if anything. */
function isAbsent(expression: Node, outlook: Outlook): boolean {
  const node = unwrap(expression)
  if (node.type === "Literal") return node.value === null
  if (node.type === "ConditionalExpression") {
    const verdict = judge(node.test, outlook)
    return verdict !== null && isAbsent(verdict ? node.consequent : node.alternate, outlook)
  }
  if (node.type === "LogicalExpression" && node.operator === "??") {
    return isAbsent(node.left, outlook) && isAbsent(node.right, outlook)
  }
  if (node.type === "CallExpression") {
    const callee = unwrap(node.callee)
    // What is asked of something absent is absent too.
    if (callee.type === "MemberExpression" && isAbsent(callee.object, outlook)) return true
    const called = calledBy(node, outlook)
    return called.length > 0 && called.every((each) => isFailureOrNull(each, outlook))
  }
  if (outlook.absent.has(lastName(node) ?? "")) return true
  if (node.type !== "Identifier") return false
  const meaning = meaningOf(outlook.reader.project.sourceOf(node), node.name, node)
  if (meaning?.is !== "variable" || meaning.path.length > 0) return false
  const { init, parent } = meaning.declarator
  const isConstant = parent?.type === "VariableDeclaration" && parent.kind === "const"
  return isConstant && init !== null && isAbsent(init, outlook)
}

function calledBy(call: CallExpression, { reader }: Outlook): FunctionNode[] {
  return reader
    .valuesOf(call.callee)
    .flatMap((value) => (value.is === "function" ? [value.node] : []))
}

/** Whether a function is declared to return a failure or null, or a promise of that. */
function isFailureOrNull({ returnType }: FunctionNode, { failureTypes }: Outlook): boolean {
  const type = returnType?.typeAnnotation
  const [promised] = type?.type === "TSTypeReference" ? (type.typeArguments?.params ?? []) : []
  const union = promised ?? type
  if (union?.type !== "TSUnionType") return false
  return union.types.every((part) => part.type === "TSNullKeyword" || isFailure(part, failureTypes))
}

/** Whether a function is there to make a failure, by the type that it says it returns. */
export function makesFailure({ returnType }: FunctionNode, assumed: Assumed): boolean {
  return returnType ? isFailure(returnType.typeAnnotation, assumed.failureTypes) : false
}

/** Whether a function only writes to the log. */
export function isLogger({ body }: FunctionNode): boolean {
  const calls = body
    ? [...descendantsOf(body)].filter((node) => node.type === "CallExpression")
    : []
  const objects = calls.map(({ callee }) => {
    if (callee.type !== "MemberExpression") return ""
    const { object } = callee
    return lastName(object.type === "NewExpression" ? object.callee : object) ?? ""
  })
  const isWriting = objects.some((name) => LOGS.has(name))
  return isWriting && objects.every((name) => LOGS.has(name) || name === "JSON" || name === "Date")
}

/** Whether a type is one that only failures are of, or has a member of such a type. */
function isFailure(type: Node, names: ReadonlySet<string>): boolean {
  if (type.type === "TSTypeLiteral") {
    return type.members.some(
      (member) =>
        member.type === "TSPropertySignature" &&
        member.typeAnnotation &&
        isFailure(member.typeAnnotation.typeAnnotation, names),
    )
  }
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return false
  return names.has(type.typeName.name)
}

/** What a function that only answers a test says to it. */
function judgeAnswer(call: CallExpression, outlook: Outlook): boolean | null {
  const [called, ...others] = calledBy(call, outlook)
  if (!called?.body || others.length > 0) return null
  if (called.body.type !== "BlockStatement") return judge(called.body, outlook)
  const [only, ...more] = called.body.body
  if (only?.type !== "ReturnStatement" || more.length > 0 || !only.argument) return null
  return judge(only.argument, outlook)
}

/** A test of the queue that a message came by, such as `queue.endsWith("-dead")`. */
function judgeQueue(call: CallExpression, { queue }: Outlook): boolean | null {
  const callee = unwrap(call.callee)
  const [given] = call.arguments
  const text = given ? textOf(given) : null
  if (queue === null || text === null || callee.type !== "MemberExpression") return null
  const { object, property } = callee
  const name = property.type === "Identifier" ? property.name : ""
  if (lastName(object) !== "queue") return null
  if (name === "endsWith") return queue.endsWith(text)
  if (name === "startsWith") return queue.startsWith(text)
  return name === "includes" ? queue.includes(text) : null
}

function endsInThrow(statement: Node): boolean {
  if (statement.type === "ThrowStatement") return true
  return statement.type === "BlockStatement" && statement.body.at(-1)?.type === "ThrowStatement"
}
