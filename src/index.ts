import { ContainerProxy } from "@cloudflare/containers"
import { app } from "./app.ts"
import { STARTUP_CRON } from "./contract/crons.ts"
import type { Env } from "./bindings/env.ts"
import { RateLimiter } from "./accounts/rate-limit/rate-limiter.ts"
import { Dispatcher } from "./scheduler/dispatcher.ts"
import { Pool } from "./scheduler/pool.ts"
import { handleRunnerReport } from "./jobs/settle/settle.ts"
import { runSweep } from "./upkeep/sweep.ts"
import { consumeQueueMessages } from "./queues.ts"
import {
  FetchRunner,
  LightRunner,
  LookupRunner,
  MediaRunner,
  SpeechRunner,
} from "./runner/container.ts"
import { makeOutboundHandler } from "./runner/outbound.ts"

// Assigns the outbound handlers after the classes are declared, because `@cloudflare/containers`
// ignores a static field `outboundByHost` in a class body.
for (const runner of [MediaRunner, LightRunner, FetchRunner, LookupRunner, SpeechRunner]) {
  runner.outboundByHost = { "worker.internal": makeOutboundHandler(handleRunnerReport) }
}

export {
  ContainerProxy,
  Dispatcher,
  FetchRunner,
  LightRunner,
  LookupRunner,
  MediaRunner,
  Pool,
  RateLimiter,
  SpeechRunner,
}

export default {
  fetch: app.fetch,
  queue: consumeQueueMessages,
  scheduled: (controller, env) =>
    runSweep(env, controller.scheduledTime, { isStart: controller.cron === STARTUP_CRON }),
} satisfies ExportedHandler<Env>
