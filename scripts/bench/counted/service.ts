import { execFile } from "node:child_process"
import { text } from "node:stream/consumers"
import { promisify } from "node:util"
import { z } from "zod"
import { startLoopbackServer } from "../../cli/loopback-server.ts"
import { ensureServiceBundles } from "../../setup/build.ts"
import type { BenchResources } from "../scope.ts"
import { startBenchService } from "../service.ts"
import type { BenchService } from "../service.ts"
import { OPERATION_COUNTS_PATH } from "./counts.ts"
import type { OperationCounts } from "./counts.ts"

const counted = z.record(z.string(), z.number())

export type CountedService = BenchService & {
  /** Returns the counts since the start of the service. */
  counts(): Promise<OperationCounts>
}

/** Starts the service of `npm start` with counters of its operations. */
export async function startCountedService(
  scope: BenchResources,
  settings: Record<string, string>,
): Promise<CountedService> {
  ensureServiceBundles()
  const folder = await scope.makeFolder()
  await promisify(execFile)(process.execPath, ["scripts/bench/counted/build.ts", folder])
  const words: [string, ...string[]] = ["scripts/bench/counted/serve.ts", folder]
  const service = await startBenchService(scope, { words, settings })
  return {
    ...service,
    async counts() {
      const answer = await fetch(new URL(OPERATION_COUNTS_PATH, service.origin))
      return counted.parse(await answer.json())
    },
  }
}

/**
 * Starts a receiver of webhooks on loopback. The function `received` returns the number of
 * different webhooks, and throws if a webhook reports a failed job.
 */
export async function startWebhookReceiver(scope: BenchResources) {
  const ids = new Set<string>()
  let failure: string | null = null
  const server = scope.use(
    await startLoopbackServer((request, response) => {
      response.end()
      void text(request).then((body) => {
        if (body.includes('"status":"failed"')) failure = body
        ids.add(String(request.headers["webhook-id"]))
      })
    }),
  )
  return {
    url: `${server.origin}/hook`,
    received(): number {
      if (failure !== null) throw new Error(`a job failed: ${failure}`)
      return ids.size
    },
  }
}
