import type { Socket } from "node:net"
import type { Readable } from "node:stream"
import { makeConnections } from "./connections.ts"
import { EgressError } from "./dial.ts"
import type { Dial } from "./dial.ts"

const REFUSALS_KEPT = 100
const IDLE_MS_MAX = 60_000

/** What goes on between one tool and the outside, and how much may come in. */
export type Traffic = {
  /** Opens a connection to the outside, which breaks with an EgressError where it idles too long. */
  open(url: URL, signal: AbortSignal): Promise<Socket>
  /** Checks how much came in whenever something arrives by this stream. */
  watch(stream: Readable): void
  /** Adds to the refusals, and returns, what was refused or not reached. */
  note(error: EgressError): EgressError
  /** Whether a connection to the outside is open. */
  isOpen(): boolean
  received(): number
  /** The last ones. */
  refusals(): readonly EgressError[]
  isTooLarge(): boolean
  /** Destroys all connections to the outside. */
  close(): void
}

export type TrafficOptions = {
  dial: Dial
  bytesMax: number
  idleMsMax?: number
  /** Called once, when more came in than may. */
  onTooLarge: () => void
}

/** Begins to count the traffic of a tool. */
export function openTraffic(options: TrafficOptions): Traffic {
  const { dial, bytesMax, idleMsMax = IDLE_MS_MAX, onTooLarge } = options
  const connections = makeConnections({ dial, idleMsMax })
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
    note(error) {
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
