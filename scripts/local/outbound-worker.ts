import { OUTBOUND_URL_HEADER } from "../../src/contract/outbound.ts"
import { readHosts } from "../../src/contract/user-url.ts"
import { makeOutbound } from "./outbound.ts"

/** Name of the Worker that every fetch of Lathe's own goes through. */
export const OUTBOUND_WORKER = "outbound"

/**
 * Hands each request to the handler in this process. Miniflare gives such a handler the host and
 * the path alone, so the whole URL goes along in a header.
 */
export function outboundWorker(allowedHosts: string) {
  const contents = `export default {
  fetch(request, env) {
    const headers = new Headers(request.headers)
    headers.set("${OUTBOUND_URL_HEADER}", request.url)
    return env.HANDLER.fetch(new Request(request, { headers, redirect: "manual" }))
  },
}`
  return {
    name: OUTBOUND_WORKER,
    compatibilityDate: "2026-10-01",
    modules: [{ type: "ESModule" as const, path: "outbound.js", contents }],
    serviceBindings: { HANDLER: { node: makeOutbound(readHosts(allowedHosts)) } },
  }
}
