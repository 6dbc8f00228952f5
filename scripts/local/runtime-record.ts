import { readFileSync } from "node:fs"
import { z } from "zod"
import { BUILT } from "./built.ts"
import { migrations } from "./control.ts"

const texts = z.record(z.string(), z.string())

export const runtimeRecord = z.object({
  /** Path of workerd. */
  program: z.string(),
  /** Path of its configuration, where it is not the one of what is built. */
  config: z.string().optional(),
  /** Names of the folders that it keeps things in, and of each one's folder below `v3`. */
  disks: texts,
  /** Variables of wrangler.toml, which the environment may override. */
  variables: texts,
  migrations,
})

/** What the start script has to know of workerd and its configuration. */
export type RuntimeRecord = z.infer<typeof runtimeRecord>

/** Reads that of what is built. */
export function readRuntimeRecord(): RuntimeRecord {
  return runtimeRecord.parse(JSON.parse(readFileSync(BUILT.runtime, "utf8")))
}
