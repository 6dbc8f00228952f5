import { readFileSync } from "node:fs"
import { z } from "zod"
import { BUNDLE_PATHS } from "./bundles.ts"
import { migrationsSchema } from "./worker/control.ts"

const texts = z.record(z.string(), z.string())

export const workerdBuildSchema = z.object({
  /** Path of the workerd program. */
  program: z.string(),
  /** Path of workerd's configuration, if the path differs from `BUNDLE_PATHS`. */
  config: z.string().optional(),
  /**
   * Names of workerd's disk services. The value is the folder of each service below `v3` of the
   * state folder.
   */
  disks: texts,
  /** Variables of wrangler.toml, which the environment may override. */
  variables: texts,
  migrations: migrationsSchema,
})

/** Result of the build of workerd's configuration that the start script needs. */
export type WorkerdBuild = z.infer<typeof workerdBuildSchema>

/** Reads the record of the workerd configuration that `npm run setup` built. */
export function readWorkerdBuild(): WorkerdBuild {
  return workerdBuildSchema.parse(JSON.parse(readFileSync(BUNDLE_PATHS.runtime, "utf8")))
}
