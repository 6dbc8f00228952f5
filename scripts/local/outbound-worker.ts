import { OUTBOUND_URL_HEADER } from "../../src/contract/outbound.ts"
import { makeOutbound } from "./outbound.ts"
import type { OutboundOptions } from "./outbound.ts"

/** Name of the Worker that every fetch of Lathe's Worker passes. */
export const OUTBOUND_WORKER = "outbound"
/** Name of the Worker that its calls of the operator's stores pass, and no other. */
export const STORE_WORKER = "stores"

/**
 * Passes each request to the handler in this process. Miniflare gives such a handler only host and
 * path, so the whole URL is sent in a header.
 */
export function outboundWorker(name: string, options: OutboundOptions) {
  const contents = `export default {
  fetch(request, env) {
    const headers = new Headers(request.headers)
    headers.set("${OUTBOUND_URL_HEADER}", request.url)
    return env.HANDLER.fetch(new Request(request, { headers, redirect: "manual" }))
  },
}`
  return {
    name,
    compatibilityDate: "2026-10-01",
    modules: [{ type: "ESModule" as const, path: "outbound.js", contents }],
    serviceBindings: { HANDLER: { node: makeOutbound(options) } },
  }
}
