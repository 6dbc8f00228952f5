import { gzipSync } from "node:zlib"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../../scripts/cli/loopback-server.ts"

/**
 * Starts an S3 server with unusual responses: it compresses `/odd/coded.wav`, redirects
 * `/odd/moved.wav` to `elsewhere`, and responds 503 to the first request of any other object.
 */
export async function startUnusualS3Server(
  bytes: Buffer,
  elsewhere: string,
): Promise<LoopbackServer> {
  let isBusy = true
  return await startLoopbackServer(({ url = "", headers }, answer) => {
    if (!headers.authorization?.startsWith("AWS4-HMAC-SHA256 Credential=")) {
      answer.writeHead(403).end()
    } else if (url === "/odd/coded.wav") {
      answer.writeHead(200, { "content-encoding": "gzip", etag: '"coded"' }).end(gzipSync(bytes))
    } else if (url === "/odd/moved.wav") {
      answer.writeHead(307, { location: elsewhere }).end()
    } else if (isBusy) {
      isBusy = false
      answer.writeHead(503, { "retry-after": "1" }).end("<Error><Code>SlowDown</Code></Error>")
    } else {
      answer.writeHead(200, { "content-type": "text/html", etag: '"page"' }).end(bytes)
    }
  })
}
