import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"

/**
 * Asks an HTTP proxy at the other end of a socket to connect it to `target` (`address:port`), and
 * returns the proxy's answer: after a 200, what is written to the socket goes to the target.
 */
export async function askProxy(
  socket: Socket,
  proxy: URL,
  target: string,
  signal: AbortSignal,
): Promise<number> {
  const asking = request({
    method: "CONNECT",
    path: target,
    headers: { host: target, ...credentialsOf(proxy) },
    createConnection: () => socket,
    signal,
  })
  const answer = await new Promise<{ response: IncomingMessage; head: Buffer }>((done, failed) => {
    asking
      .once("connect", (response, _socket, head) => done({ response, head }))
      .once("error", failed)
    asking.end()
  })
  if (answer.head.length > 0) socket.unshift(answer.head)
  return answer.response.statusCode ?? 0
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` }
}
