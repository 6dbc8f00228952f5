import type { IncomingMessage, ServerResponse } from "node:http"
import { connectForRequest } from "../../../container/egress/connect-for-request.ts"
import { EgressError, createDialFunction, toEgressError } from "../../../container/egress/dial.ts"
import type { DialFunction, DialOptions } from "../../../container/egress/dial.ts"
import { relayRequest } from "../../../container/egress/relay-request.ts"
import { OUTBOUND_ERROR_HEADER } from "../../../src/contract/protocol.ts"
import { isAllowedHost, parseWebUrl } from "../../../src/contract/urls/user-url.ts"

const IDLE_MS_MAX = 60_000

/**
 * Headers that workerd adds for its own use, and that are removed from the Worker's outgoing
 * requests.
 */
const OWN_HEADERS = /^(?:mf-.*|cf-.*|lathe-outbound-.*)$/i

export type OutboundOptions = Omit<DialOptions, "upstream"> & {
  /** Whether all hosts except `allowedHosts` are refused, without a DNS query. */
  refusesPublicHosts?: boolean
}

/**
 * Makes the handler of the Worker's outgoing requests, whose target is the full URL. The handler
 * refuses private addresses as the runner does, and returns redirects to the Worker instead of
 * following them.
 */
export function makeOutgoingRequestHandler(options: OutboundOptions) {
  const dial = makeOutboundDial(options)
  return async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const hangUp = new AbortController()
    answer.once("close", () => hangUp.abort())
    try {
      const url = parseWebUrl(String(incoming.url))
      if (!url) throw new EgressError("url_not_allowed", "expected an http or https URL")
      const socket = await connectForRequest(url, dial, hangUp.signal)
      socket.setTimeout(IDLE_MS_MAX, () => socket.destroy(fellSilent()))
      await relayRequest(url, incoming, answer, {
        socket,
        signal: hangUp.signal,
        drop: OWN_HEADERS,
      })
    } catch (error) {
      // Reads the rest of the request, because an unread request would keep its connection open.
      incoming.resume()
      if (answer.headersSent) answer.destroy()
      else refuse(answer, error)
    }
  }
}

function makeOutboundDial({
  refusesPublicHosts = false,
  ...options
}: OutboundOptions): DialFunction {
  const dial = createDialFunction({ ...options, upstream: null })
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
