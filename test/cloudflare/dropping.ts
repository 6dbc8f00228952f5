import { connect } from "node:net"
import type { Socket } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startNodeProgram, waitForReadyLine } from "../../scripts/cli/program.ts"

/** More than the queue of a listener of this backlog takes. */
const CONNECTIONS = 4
const FULL_MS = 300

/**
 * Has [::1]:port drop connections, as an address does that no route leads to, until it is disposed
 * of.
 */
export async function dropConnections(port: number): Promise<AsyncDisposable> {
  await using opened = new AsyncDisposableStack()
  const words: [string, string] = [join(import.meta.dirname, "dropping-program.ts"), String(port)]
  const program = opened.use(startNodeProgram({ words, environment: process.env }))
  await waitForReadyLine(program, /^listening$/)
  const sockets = Array.from({ length: CONNECTIONS }, () => connect({ host: "::1", port }))
  for (const socket of sockets) ignoreErrors(socket)
  opened.defer(() => sockets.forEach((socket) => socket.destroy()))
  await sleep(FULL_MS)
  if (!sockets.some(({ connecting }) => connecting)) throw new Error("nothing is dropped")
  const running = opened.move()
  return { [Symbol.asyncDispose]: async () => await running.disposeAsync() }
}

function ignoreErrors(socket: Socket): void {
  socket.on("error", () => undefined)
}
