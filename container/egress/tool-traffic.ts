import type { Socket } from "node:net"
import type { Readable } from "node:stream"
import { EgressError } from "./dial.ts"
import type { DialFunction } from "./dial.ts"

const REFUSALS_KEPT = 100
const IDLE_MS_MAX = 60_000

/** Traffic between one tool and remote hosts, with a limit of received bytes. */
export type ToolTraffic = {
  /**
   * Opens a connection to a remote host. An idle connection is destroyed with an EgressError after
   * a timeout.
   */
  open(url: URL, signal: AbortSignal): Promise<Socket>
  /** Checks the limit of received bytes each time data arrives on a stream. */
  watch(stream: Readable): void
  /** Records the error of a refused or failed connection of the tool, and returns the error. */
  record(error: EgressError): EgressError
  /** Reports whether a connection to a remote host is open. */
  isOpen(): boolean
  received(): number
  /** Returns the errors of the latest refused or failed connections, the oldest error first. */
  refusals(): readonly EgressError[]
  isTooLarge(): boolean
  /** Destroys all connections to remote hosts. */
  close(): void
}

export type ToolTrafficOptions = {
  dial: DialFunction
  bytesMax: number
  idleMsMax?: number
  /** Called once, when the number of received bytes exceeds the limit. */
  onTooLarge: () => void
}

/**
 * Creates the object through which the proxy of a tool opens connections to remote hosts, and which
 * counts and limits the received bytes.
 */
export function createToolTraffic(options: ToolTrafficOptions): ToolTraffic {
  const { dial, bytesMax, idleMsMax = IDLE_MS_MAX, onTooLarge } = options
  const connections = createToolConnections({ dial, idleMsMax })
  const refusals: EgressError[] = []
  let isTooLarge = false

  function check(): void {
    if (isTooLarge || connections.received() <= bytesMax) return
    isTooLarge = true
    connections.close()
    onTooLarge()
  }

  return {
    async open(url, signal) {
      check()
      if (isTooLarge) throw new EgressError("too_large", `more than ${bytesMax} bytes came in`)
      return await connections.open(url, signal)
    },
    watch: (stream) => void stream.on("data", check),
    record(error) {
      refusals.push(error)
      if (refusals.length > REFUSALS_KEPT) refusals.shift()
      return error
    },
    isOpen: () => connections.isOpen(),
    received: () => connections.received(),
    refusals: () => refusals,
    isTooLarge: () => isTooLarge,
    close: () => connections.close(),
  }
}

const OPEN_MAX = 64
const OPENED_MAX = 20_000

/** Connections of one tool to remote hosts. */
type Connections = {
  /**
   * Opens a connection to a remote host. Fails if the tool has too many open connections, or has
   * opened too many connections in total. An idle connection is destroyed with an EgressError after
   * a timeout.
   */
  open(url: URL, signal: AbortSignal): Promise<Socket>
  /** Reports whether at least one connection to a remote host is open. */
  isOpen(): boolean
  /** Returns the number of bytes received on all connections. */
  received(): number
  /** Destroys all open connections of the tool. */
  close(): void
}

type ConnectionsOptions = {
  dial: DialFunction
  idleMsMax: number
}

/**
 * Creates the manager of a tool's connections to remote hosts, which opens, counts, limits and
 * closes the connections.
 */
export function createToolConnections({ dial, idleMsMax }: ConnectionsOptions): Connections {
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
