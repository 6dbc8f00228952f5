import { startLoopbackServer } from "../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../scripts/cli/loopback-server.ts"
import { passOn } from "./pass-on.ts"
import { BODY_BYTES_MAX } from "./switches.ts"
import type { Switch } from "./switches.ts"

const REFUSAL =
  "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n" +
  "<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n"

/** The edge in front of the Worker, which listens on `port`. */
export async function startFront(
  port: number,
  switches: ReadonlySet<Switch>,
): Promise<LoopbackServer> {
  return await startLoopbackServer((incoming, answer) => {
    const bytes = Number(incoming.headers["content-length"] ?? 0)
    if (switches.has("body-limit") && bytes > BODY_BYTES_MAX) {
      answer.writeHead(413, { "content-type": "text/html", connection: "close" }).end(REFUSAL)
      return
    }
    const path = incoming.url ?? "/"
    passOn(incoming, answer, { port, path, headers: {} }).catch(() => answer.destroy())
  })
}
