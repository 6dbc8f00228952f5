import type { Node } from "oxc-parser"
import type { Value } from "./value.ts"

/** Answers to questions about nodes, so that each is worked out as seldom as can be. */
export type Memory = {
  answers: Map<string, Map<Node, Answer>>
  /** Answers that rest on a question that is still under way. */
  provisional: Answer[]
  /** Questions under way, the first one first. */
  stack: (Question & { answer: Answer })[]
  /** Questions worked out so far. */
  count: number
  round: number
  /** What the answer under way rests on so far; see `Answer`. */
  restsOn: number
  placeOf(node: Node): string
}

type Question = { text: string; node: Node }

/** What answers rest on, with those that were worked out by it. */
export type Basis = { users: Set<Answer> }

type Answer = Basis & {
  values: Value[]
  /** Place of its question on the stack while that is under way; 0 once it is answered. */
  depth: number
  /** The lowest place on the stack of a question under way that it rests on; Infinity: none. */
  restsOn: number
  /** The round in which it was worked out; a provisional answer holds in that round only. */
  round: number
}

/** Rounds after which the answers of a circle are taken as they are; most settle in three. */
const ROUNDS_MAX = 12
/** Spares the stack where sources are odd. */
const DEPTH_MAX = 400
/** The longest trip through this project needs an eighth of it. */
const QUESTIONS_MAX = 1_000_000

export function openMemory(placeOf: (node: Node) => string): Memory {
  return {
    answers: new Map(),
    provisional: [],
    stack: [],
    count: 0,
    round: 0,
    restsOn: Infinity,
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
  const answer = byNode.get(node) ?? newAnswer()
  byNode.set(node, answer)
  noteUse(memory, answer)
  if (isUsable(memory, answer)) {
    memory.restsOn = Math.min(memory.restsOn, answer.depth > 0 ? answer.depth : answer.restsOn)
    return answer.values
  }
  if (memory.stack.length >= DEPTH_MAX) {
    memory.restsOn = 0
    return answer.values
  }
  const around = memory.restsOn
  memory.stack.push({ ...question, answer })
  workOut(memory, answer, work)
  memory.stack.pop()
  memory.restsOn = Math.min(around, answer.restsOn)
  return answer.values
}

/** Notes that the answer under way rests on something. */
export function noteUse({ stack }: Memory, basis: Basis): void {
  const user = stack.at(-1)?.answer
  if (user) basis.users.add(user)
}

/**
 * Has those answers worked out again, and no others, that rest on something that was added to. They
 * start from what they were, since what is added seldom takes anything away.
 */
export function askAgain(basis: Basis): void {
  const bases = [basis]
  for (let next = bases.pop(); next; next = bases.pop()) {
    for (const user of next.users) {
      Object.assign(user, { restsOn: 0, round: -1 })
      bases.push(user)
    }
    next.users.clear()
  }
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

function newAnswer(): Answer {
  return { values: [], depth: 0, restsOn: 0, round: -1, users: new Set() }
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
    const values = unique(work())
    const isFirstOfCircle = memory.restsOn === depth
    const isSettled = !isFirstOfCircle || attempt === ROUNDS_MAX || isSame(values, answer.values)
    answer.values = values
    if (isSettled) break
    memory.round += 1
  }
  const { round, restsOn } = memory
  Object.assign(answer, { depth: 0, round })
  if (restsOn < depth) {
    answer.restsOn = restsOn
    memory.provisional.push(answer)
    return
  }
  // What rests on nothing that is under way holds, and so does what rests on this answer.
  for (const each of [answer, ...memory.provisional.splice(before)]) each.restsOn = Infinity
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
