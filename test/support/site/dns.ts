import { createSocket } from "node:dgram"
import { once } from "node:events"
import { isIPv4, isIPv6 } from "node:net"
import { decode, encode } from "dns-packet"
import type { Answer, Question } from "dns-packet"

/**
 * Responses to the first, second and later queries of a name. The last entry also answers all
 * further queries.
 */
export type DnsResponses = readonly (readonly string[] | NameTrouble)[]

/** Failed query: `nxdomain` and `servfail` are response codes, and `silence` sends no response. */
type NameTrouble = "nxdomain" | "servfail" | "silence"

/** DNS server for tests, whose responses may change from query to query. */
export type DnsServer = AsyncDisposable & {
  address: string
  port: number
  /** Responses by name. Tests may change them at any time. */
  names: Map<string, DnsResponses>
  /** All queries so far, as `TYPE name`. */
  questions: string[]
}

const RCODES = { nxdomain: 3, servfail: 2 }
const TTL_SECONDS = 0

/**
 * Starts a DNS server over UDP for A and AAAA queries. Each query gets only the addresses of its
 * type. Queries of each type are counted separately. Unknown names get NXDOMAIN.
 */
export async function startDnsServer(
  options: { address?: string; port?: number; names?: Record<string, DnsResponses> } = {},
): Promise<DnsServer> {
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
  // The response code is in the lowest four bits of the flags.
  return encode({ type: "response", id, flags: rcode, questions: [question], answers })
}

function answerOf({ name, type }: Question, address: string): Answer[] {
  const facts = { name, ttl: TTL_SECONDS, data: address }
  if (type === "A" && isIPv4(address)) return [{ ...facts, type: "A" }]
  if (type === "AAAA" && isIPv6(address)) return [{ ...facts, type: "AAAA" }]
  return []
}
