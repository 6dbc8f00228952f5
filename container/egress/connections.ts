import type { Socket } from "node:net"
import { EgressError } from "./dial.ts"
import type { Dial } from "./dial.ts"

const OPEN_MAX = 64
const OPENED_MAX = 20_000

/** The connections of one tool to the outside. */
export type Connections = {
  /** Dials, where the limits allow another connection; one that idles for too long is destroyed
   * with an EgressError. */
  open(url: URL, signal: AbortSignal): Promise<Socket>
  /** Whether one of them is open. */
  isOpen(): boolean
  /** Bytes that came in by all of them. */
  received(): number
  /** Destroys those that are open. */
  close(): void
}

export type ConnectionsOptions = {
  dial: Dial
  idleMsMax: number
}

/** Makes a tool's connections, of which there are none yet. */
export function makeConnections({ dial, idleMsMax }: ConnectionsOptions): Connections {
  const open = new Set<Socket>()
  let opening = 0
  let opened = 0
  let closedBytes = 0

  function keep(socket: Socket): void {
    open.add(socket)
    socket.once("close", () => {
      open.delete(socket)
      closedBytes += socket.bytesRead
    })
    socket.setTimeout(idleMsMax, () => {
      const error = new EgressError(
        "too_slow",
        `a connection idled for ${idleMsMax / 1000} seconds`,
      )
      socket.destroy(error)
    })
  }

  return {
    async open(url, signal) {
      if (open.size + opening >= OPEN_MAX) throw tooMany(OPEN_MAX, "are open")
      if (opened >= OPENED_MAX) throw tooMany(OPENED_MAX, "were made")
      opened += 1
      opening += 1
      try {
        const socket = await dial(url, signal)
        keep(socket)
        if (signal.aborted) socket.destroy()
        signal.throwIfAborted()
        return socket
      } finally {
        opening -= 1
      }
    },
    isOpen: () => open.size > 0,
    received: () => open.values().reduce((sum, socket) => sum + socket.bytesRead, closedBytes),
    close: () => open.forEach((socket) => socket.destroy()),
  }
}

function tooMany(count: number, what: string): EgressError {
  return new EgressError("connection_failed", `${count} connections ${what}, which is the most`)
}
