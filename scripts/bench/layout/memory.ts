import type { Node } from "oxc-parser"
import type { Value } from "./value.ts"

/** Answers to questions about nodes, so that each is worked out as seldom as can be. */
export type Memory = {
  answers: Map<string, Map<Node, Answer>>
  /** Answers that rest on what parameters were given so far. */
  passing: Set<Answer>
  /** Answers that rest on a question that is still under way. */
  provisional: Answer[]
  /** Questions under way, the first one first. */
  stack: Question[]
  /** Questions worked out so far. */
  count: number
  round: number
  /** What the answer under way rests on so far; see `Answer`. */
  restsOn: number
  isPassing: boolean
  placeOf(node: Node): string
}

type Question = { text: string; node: Node }

type Answer = {
  values: Value[]
  /** Place of its question on the stack while that is under way; 0 once it is answered. */
  depth: number
  /** The lowest place on the stack of a question under way that it rests on; Infinity: none. */
  restsOn: number
  /** The round in which it was worked out; a provisional answer holds in that round only. */
  round: number
  isPassing: boolean
}

/** Rounds after which the answers of a circle are taken as they are; most settle in three. */
const ROUNDS_MAX = 12
/** Spares the stack where sources are odd. */
const DEPTH_MAX = 400
/** A trip through this project needs a tenth of it. */
const QUESTIONS_MAX = 1_000_000

export function openMemory(placeOf: (node: Node) => string): Memory {
  return {
    answers: new Map(),
    passing: new Set(),
    provisional: [],
    stack: [],
    count: 0,
    round: 0,
    restsOn: Infinity,
    isPassing: false,
    placeOf,
  }
}

/**
 * Answers a question once. One that needs its own answer gets what is known of that so far, and
 * the first question of such a circle is worked out again until its answer stays the same: all
 * answers of the circle are found together, each once a round.
 */
export function ask(memory: Memory, question: Question, work: () => Value[]): Value[] {
  const { text, node } = question
  const byNode = memory.answers.get(text) ?? new Map<Node, Answer>()
  memory.answers.set(text, byNode)
  const known = byNode.get(node)
  if (known && isUsable(memory, known)) {
    memory.restsOn = Math.min(memory.restsOn, known.depth > 0 ? known.depth : known.restsOn)
    memory.isPassing ||= known.isPassing
    return known.values
  }
  if (memory.stack.length >= DEPTH_MAX) {
    memory.restsOn = 0
    return known?.values ?? []
  }
  const answer = known ?? { values: [], depth: 0, restsOn: 0, round: 0, isPassing: false }
  byNode.set(node, answer)
  const around = { restsOn: memory.restsOn, isPassing: memory.isPassing }
  memory.stack.push(question)
  workOut(memory, answer, work)
  memory.stack.pop()
  memory.restsOn = Math.min(around.restsOn, answer.restsOn)
  memory.isPassing = around.isPassing || answer.isPassing
  return answer.values
}

/** Forgets the answers that rest on what parameters were given. */
export function forgetPassing({ passing }: Memory): void {
  for (const each of passing) Object.assign(each, { values: [], restsOn: 0, round: -1 })
  passing.clear()
}

/** Values without those that are there twice. */
export function unique(values: readonly Value[]): Value[] {
  const seen = new Map<string, Set<Node>>()
  return values.filter(({ is, node }) => {
    const nodes = seen.get(is) ?? new Set()
    seen.set(is, nodes)
    if (nodes.has(node)) return false
    nodes.add(node)
    return true
  })
}

function isUsable({ round }: Memory, known: Answer): boolean {
  return known.depth > 0 || known.restsOn === Infinity || known.round === round
}

function workOut(memory: Memory, answer: Answer, work: () => Value[]): void {
  const depth = memory.stack.length
  const before = memory.provisional.length
  answer.depth = depth
  for (let attempt = 1; ; attempt += 1) {
    countQuestion(memory)
    memory.restsOn = Infinity
    memory.isPassing = false
    const values = unique(work())
    const isFirstOfCircle = memory.restsOn === depth
    const isSettled = !isFirstOfCircle || attempt === ROUNDS_MAX || isSame(values, answer.values)
    answer.values = values
    if (isSettled) break
    memory.round += 1
  }
  const { round, restsOn, isPassing } = memory
  Object.assign(answer, { depth: 0, round, isPassing })
  if (restsOn < depth) {
    answer.restsOn = restsOn
    memory.provisional.push(answer)
    return
  }
  // What rests on nothing that is under way holds, and so does what rests on this answer.
  for (const each of [answer, ...memory.provisional.splice(before)]) {
    Object.assign(each, { restsOn: Infinity, isPassing })
    if (isPassing) memory.passing.add(each)
  }
}

function countQuestion(memory: Memory): void {
  memory.count += 1
  const [first] = memory.stack
  const last = memory.stack.at(-1)
  if (memory.count <= QUESTIONS_MAX || !first || !last) return
  throw new Error(
    `the walk asked more than ${QUESTIONS_MAX} questions: it was at ${memory.placeOf(first.node)} ` +
      `("${first.text}"), and there at ${memory.placeOf(last.node)} ("${last.text}")`,
  )
}

function isSame(some: readonly Value[], others: readonly Value[]): boolean {
  if (some.length !== others.length) return false
  return some.every(({ is, node }) => others.some((each) => each.is === is && each.node === node))
}
