import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { requestUrlWithRedirects } from "../../../container/egress/open-url.ts"
import type { UrlRequestOptions } from "../../../container/egress/open-url.ts"
import { EgressError } from "../../../container/egress/dial.ts"
import { testDial, to } from "./lab.ts"

const { signal } = new AbortController()
const dial = testDial({ allowedHosts: ["a.example", "b.example"], resolve: to("127.0.0.1") })

/** Opens a URL of a.example or b.example, which resolve to this machine. */
export async function open(
  url: string,
  options: Partial<UrlRequestOptions> = {},
): Promise<{ url: URL; response: IncomingMessage }> {
  return await requestUrlWithRedirects(new URL(url), { dial, signal, ...options })
}

/** Opens and reads a URL; returns null, or the code and sentence of the error. */
export async function ends(
  url: string,
  options: Partial<UrlRequestOptions> = {},
): Promise<unknown> {
  try {
    const { response } = await open(url, options)
    await text(response)
    return null
  } catch (error) {
    return error instanceof EgressError ? [error.code, error.message] : error
  }
}
