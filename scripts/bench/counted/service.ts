import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { z } from "zod"
import { startServiceProcess } from "../../local/service-process.ts"
import type { ServiceProcess } from "../../local/service-process.ts"
import { ensureBuilt } from "../../setup/build.ts"
import type { BenchScope } from "../scope.ts"
import { COUNTS_PATH } from "./counts.ts"
import type { Counts } from "./counts.ts"

const counted = z.record(z.string(), z.number())

export type CountedService = ServiceProcess & {
  /** What it has counted since it started. */
  counts(): Promise<Counts>
}

/** Starts a service that is that of `npm start`, and counts what it does. */
export async function startCountedService(
  scope: Pick<BenchScope, "makeFolder" | "use" | "signal">,
  settings: Record<string, string>,
): Promise<CountedService> {
  ensureBuilt()
  const folder = await scope.makeFolder()
  await promisify(execFile)(process.execPath, ["scripts/bench/counted/build.ts", folder])
  const words: [string, ...string[]] = ["scripts/bench/counted/serve.ts", folder]
  const service = scope.use(await startServiceProcess({ words, settings, signal: scope.signal }))
  return {
    ...service,
    async counts() {
      const answer = await fetch(new URL(COUNTS_PATH, service.origin))
      return counted.parse(await answer.json())
    },
  }
}
