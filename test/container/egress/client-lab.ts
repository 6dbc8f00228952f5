import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { openUrl } from "../../../container/egress/client.ts"
import type { OpenOptions } from "../../../container/egress/client.ts"
import { EgressError } from "../../../container/egress/dial.ts"
import { testDial, to } from "./lab.ts"

const { signal } = new AbortController()
const dial = testDial({ allowedHosts: ["a.example", "b.example"], resolve: to("127.0.0.1") })

/** Opens a URL of a.example or b.example, which are this machine. */
export async function open(
  url: string,
  options: Partial<OpenOptions> = {},
): Promise<{ url: URL; response: IncomingMessage }> {
  return await openUrl(new URL(url), { dial, signal, ...options })
}

/** Opens and reads a URL; null, or the code and the sentence of the error that it ends with. */
export async function ends(url: string, options: Partial<OpenOptions> = {}): Promise<unknown> {
  try {
    const { response } = await open(url, options)
    await text(response)
    return null
  } catch (error) {
    return error instanceof EgressError ? [error.code, error.message] : error
  }
}
