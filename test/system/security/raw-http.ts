import { connect } from "node:net"
import type { Socket } from "node:net"
import { z } from "zod"

const SILENCE_MS = 1500
/** For the first byte; a busy machine takes its time. */
const FIRST_MS = 20_000

const problem = z.looseObject({ code_name: z.string(), status: z.number(), request_id: z.string() })

/**
 * Sends bytes to a port, and answers what comes back until it closes, or is silent for a while
 * after its first byte.
 */
export async function exchange(
  port: number,
  sent: string | Buffer,
  { host = "127.0.0.1", silenceMs = SILENCE_MS, firstMs = FIRST_MS } = {},
): Promise<string> {
  const socket = connect(port, host)
  socket.write(sent)
  socket.once("data", () => socket.setTimeout(silenceMs))
  return await readAll(socket, firstMs)
}

/** All that comes over a connection until it closes or is silent for so long. */
export async function readAll(socket: Socket, silenceMs: number): Promise<string> {
  const chunks: Buffer[] = []
  socket.setTimeout(silenceMs, () => socket.destroy())
  socket.on("data", (chunk: Buffer) => chunks.push(chunk))
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve()).once("error", () => resolve())
  })
  return Buffer.concat(chunks).toString("latin1")
}

/** A head as it goes over the wire. */
export function head(...lines: string[]): string {
  return `${lines.join("\r\n")}\r\n\r\n`
}

/** The statuses of the answers in what came back. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

/**
 * Status and code of the one answer that came back, which has the shape of the service's errors.
 */
export function readProblem(answer: string): [number, string] {
  const [, body = ""] = answer.split("\r\n\r\n")
  const { status, code_name } = problem.parse(JSON.parse(body))
  const statuses = statusesIn(answer)
  if (statuses.length !== 1 || statuses[0] !== status)
    throw new Error(`answered ${statuses.join()}`)
  return [status, code_name]
}
