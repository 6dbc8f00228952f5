import { ContainerProxy } from "@cloudflare/containers"
import { app } from "./app.ts"
import { AT_START } from "./contract/crons.ts"
import type { Env } from "./env.ts"
import { RateLimiter } from "./http/rate-limiter.ts"
import { Dispatcher } from "./pipeline/dispatch/dispatcher.ts"
import { Pool } from "./pipeline/dispatch/pool.ts"
import { receiveReport } from "./pipeline/settle/settle.ts"
import { sweep } from "./pipeline/upkeep/sweep.ts"
import { consume } from "./queues.ts"
import {
  FetchRunner,
  LightRunner,
  LookupRunner,
  MediaRunner,
  SpeechRunner,
} from "./runner/container.ts"
import { answerContainer } from "./runner/outbound.ts"

// Assigned here: a static field of the class would never be registered.
for (const runner of [MediaRunner, LightRunner, FetchRunner, LookupRunner, SpeechRunner]) {
  runner.outboundByHost = { "worker.internal": answerContainer(receiveReport) }
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
  queue: consume,
  scheduled: (controller, env) =>
    sweep(env, controller.scheduledTime, { isStart: controller.cron === AT_START }),
} satisfies ExportedHandler<Env>
