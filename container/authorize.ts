import { createHash, timingSafeEqual } from "node:crypto"
import { isIPv4 } from "node:net"

/** Answers 401 to whoever does not send the token; where there is none, everybody may ask. */
export function tokenCheck(token: string | null): (request: Request) => Response | undefined {
  if (token === null) return () => undefined
  const expected = digestOf(`Bearer ${token}`)
  return ({ headers }) => {
    const given = digestOf(headers.get("authorization") ?? "")
    if (timingSafeEqual(given, expected)) return undefined
    return Response.json({ error: "token" }, { status: 401 })
  }
}

/** Why a runner must not listen there, as a sentence; null where it may. */
export function problemOfHost(host: string, token: string | null): string | null {
  if (token !== null || isLoopback(host)) return null
  return (
    `RUNNER_HOST is "${host}", which others reach, and RUNNER_TOKEN is not set: ` +
    "set RUNNER_TOKEN to at least 32 random characters, or RUNNER_HOST to 127.0.0.1."
  )
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."))
}

/** Digests have one length, whatever was sent. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}
