import { ContainerProxy } from "@cloudflare/containers"
import { app } from "./app.ts"
import type { Env } from "./env.ts"
import { RateLimiter } from "./http/rate-limit.ts"
import { Dispatcher } from "./pipeline/dispatcher.ts"
import { useRecords } from "./pipeline/end-notice.ts"
import { Pool } from "./pipeline/pool.ts"
import { handleReport } from "./pipeline/reports.ts"
import { sweep } from "./pipeline/sweep.ts"
import { consume } from "./queues.ts"
import { viewRecord } from "./records.ts"
import { FetchRunner, MediaRunner } from "./runner/container.ts"
import { answerContainer } from "./runner/outbound.ts"

useRecords(viewRecord)

// Assigned here: a static field of the class would never be registered.
for (const runner of [MediaRunner, FetchRunner]) {
  runner.outboundByHost = { "worker.internal": answerContainer(handleReport) }
}

export { ContainerProxy, Dispatcher, FetchRunner, MediaRunner, Pool, RateLimiter }

export default {
  fetch: app.fetch,
  queue: consume,
  scheduled: (controller, env) => sweep(env, controller.scheduledTime),
} satisfies ExportedHandler<Env>
