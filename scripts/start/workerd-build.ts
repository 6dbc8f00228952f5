import { readFileSync } from "node:fs"
import { z } from "zod"
import { BUNDLE_PATHS } from "./built.ts"
import { migrations } from "./worker/control.ts"

const texts = z.record(z.string(), z.string())

export const workerdBuild = z.object({
  /** Path of the workerd program. */
  program: z.string(),
  /** Path of workerd's configuration, if it is not that of `BUNDLE_PATHS`. */
  config: z.string().optional(),
  /** Names of workerd's disk services, with the folder of each below `v3` of the state folder. */
  disks: texts,
  /** Variables of wrangler.toml. The environment may override them. */
  variables: texts,
  migrations,
})

/** Result of the build of workerd's configuration, as the start script needs it. */
export type WorkerdBuild = z.infer<typeof workerdBuild>

/** Reads the record of the workerd configuration that `npm run setup` built. */
export function readWorkerdBuild(): WorkerdBuild {
  return workerdBuild.parse(JSON.parse(readFileSync(BUNDLE_PATHS.runtime, "utf8")))
}
