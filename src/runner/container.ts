import { Container } from "@cloudflare/containers"
import type { Env } from "../env.ts"

const PORT = 8788
const ENVIRONMENT = { RUNNER_HOST: "0.0.0.0", RUNNER_PORT: String(PORT), RUNNER_CAPACITY: "1" }

/** A container that parses media: it reaches the Worker's I/O routes and nothing else. */
export class MediaRunner extends Container<Env> {
  override defaultPort = PORT
  override sleepAfter = "60s"
  override enableInternet = false
  override envVars = ENVIRONMENT

  override async onStop(): Promise<void> {
    const slot = this.ctx.id.name
    if (slot !== undefined) await this.env.POOL.getByName("media").slotStopped(slot)
  }
}

/** A container that fetches from the web: it has no access to other inputs. */
export class FetchRunner extends Container<Env> {
  override defaultPort = PORT
  override sleepAfter = "60s"
  override envVars = ENVIRONMENT
}
