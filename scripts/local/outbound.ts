import type { IncomingMessage, ServerResponse } from "node:http"
import { connectTo } from "../../container/egress/connect-to.ts"
import { EgressError, makeDial, toEgressError } from "../../container/egress/dial.ts"
import type { Dial, DialOptions } from "../../container/egress/dial.ts"
import { relay } from "../../container/egress/relay.ts"
import { OUTBOUND_ERROR_HEADER } from "../../src/contract/protocol.ts"
import { isAllowedHost, readWebUrl } from "../../src/contract/user-url.ts"

const IDLE_MS_MAX = 60_000

/** Headers that the local runtime adds for its own use. */
const OWN_HEADERS = /^(?:mf-.*|cf-.*|lathe-outbound-.*)$/i

export type OutboundOptions = Omit<DialOptions, "upstream"> & {
  /** Whether every other host is refused, without a look-up of its name. */
  refusesPublicHosts?: boolean
}

/**
 * Makes the handler that every fetch of the Worker passes, whose target is the whole URL: it
 * connects as the fetches of the runner do. Redirects are passed on, not followed.
 */
export function makeOutbound(options: OutboundOptions) {
  const dial = makeOutboundDial(options)
  return async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const gone = new AbortController()
    answer.once("close", () => gone.abort())
    try {
      const url = readWebUrl(String(incoming.url))
      if (!url) throw new EgressError("url_not_allowed", "expected an http or https URL")
      const socket = await connectTo(url, dial, gone.signal)
      socket.setTimeout(IDLE_MS_MAX, () => socket.destroy(fellSilent()))
      await relay(url, incoming, answer, { socket, signal: gone.signal, drop: OWN_HEADERS })
    } catch (error) {
      // A request that is not read would keep its connection.
      incoming.resume()
      if (answer.headersSent) answer.destroy()
      else refuse(answer, error)
    }
  }
}

function makeOutboundDial({ refusesPublicHosts = false, ...options }: OutboundOptions): Dial {
  const dial = makeDial({ ...options, upstream: null })
  return async (url, signal) => {
    if (refusesPublicHosts && !isAllowedHost(url, options.allowedHosts)) {
      throw new EgressError("url_not_allowed", "this service calls no public host")
    }
    return await dial(url, signal)
  }
}

function fellSilent(): EgressError {
  return new EgressError("too_slow", "the host fell silent")
}

function refuse(answer: ServerResponse, error: unknown): void {
  const { reason } = toEgressError(error, "the host")
  answer.writeHead(502, { [OUTBOUND_ERROR_HEADER]: reason }).end()
}
