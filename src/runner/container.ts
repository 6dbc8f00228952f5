import { Container } from "@cloudflare/containers"
import type { Env } from "../env.ts"

/** A container that parses media: it reaches the Worker's I/O routes and nothing else. */
export class MediaRunner extends Container<Env> {
  override defaultPort = 8788
  override sleepAfter = "60s"
  override enableInternet = false
  override envVars = { RUNNER_HOST: "0.0.0.0", RUNNER_PORT: "8788", RUNNER_CAPACITY: "1" }
}

/** A container that fetches from the web: it has no access to other inputs. */
export class FetchRunner extends Container<Env> {
  override defaultPort = 8788
  override sleepAfter = "60s"
  override envVars = { RUNNER_HOST: "0.0.0.0", RUNNER_PORT: "8788", RUNNER_CAPACITY: "1" }
}
