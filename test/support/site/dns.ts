import { createSocket } from "node:dgram"
import { once } from "node:events"
import { isIPv4, isIPv6 } from "node:net"
import { decode, encode } from "dns-packet"
import type { Answer, Question } from "dns-packet"

/** Addresses of a name at the first query, the second and so on; the last entry repeats. */
export type NameAnswers = readonly (readonly string[] | NameTrouble)[]

/** `nxdomain` and `servfail` say so, `silence` never answers. */
type NameTrouble = "nxdomain" | "servfail" | "silence"

/** A name server that answers by a table, with what is to change from question to question. */
export type NameServer = AsyncDisposable & {
  address: string
  port: number
  /** Answers by name; tests may change them at any time. */
  names: Map<string, NameAnswers>
  /** All questions so far, as `TYPE name`. */
  questions: string[]
}

const RCODES = { nxdomain: 3, servfail: 2 }
const TTL_SECONDS = 0

/**
 * Opens a name server by UDP, for A and AAAA: an answer holds addresses of both kinds, and a question
 * gets those of its own. Each type of question counts for itself. Names that are not there are NXDOMAIN.
 */
export async function openNameServer(
  options: { address?: string; port?: number; names?: Record<string, NameAnswers> } = {},
): Promise<NameServer> {
  const address = options.address ?? "127.0.0.1"
  const names = new Map(Object.entries(options.names ?? {}))
  const questions: string[] = []
  const timesAsked = new Map<string, number>()
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4")
  socket.on("message", (bytes, from) => {
    const packet = decode(bytes)
    const [question] = packet.questions ?? []
    if (!question) return
    const asked = `${question.type} ${question.name.toLowerCase()}`
    questions.push(asked)
    const times = timesAsked.get(asked) ?? 0
    timesAsked.set(asked, times + 1)
    const all = names.get(question.name.toLowerCase())
    const given = all?.[Math.min(times, all.length - 1)] ?? "nxdomain"
    if (given === "silence") return
    socket.send(encodeAnswer(packet.id ?? 0, question, given), from.port, from.address)
  })
  socket.bind(options.port ?? 0, address)
  await once(socket, "listening")
  return {
    address,
    port: socket.address().port,
    names,
    questions,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, "close")
    },
  }
}

function encodeAnswer(
  id: number,
  question: Question,
  given: readonly string[] | "nxdomain" | "servfail",
): Buffer {
  const answers = typeof given === "string" ? [] : given.flatMap((each) => answerOf(question, each))
  const rcode = typeof given === "string" ? RCODES[given] : 0
  // The lowest four bits of the flags are the code of the answer.
  return encode({ type: "response", id, flags: rcode, questions: [question], answers })
}

function answerOf({ name, type }: Question, address: string): Answer[] {
  const facts = { name, ttl: TTL_SECONDS, data: address }
  if (type === "A" && isIPv4(address)) return [{ ...facts, type: "A" }]
  if (type === "AAAA" && isIPv6(address)) return [{ ...facts, type: "AAAA" }]
  return []
}
