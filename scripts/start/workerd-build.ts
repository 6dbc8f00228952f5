import { readFileSync } from "node:fs"
import { z } from "zod"
import { BUNDLE_PATHS } from "./bundles.ts"
import { migrationsSchema } from "./worker/control.ts"

const texts = z.record(z.string(), z.string())

export const workerdBuildSchema = z.object({
  /** Path of the workerd program. */
  program: z.string(),
  /** Path of workerd's configuration, if it is not the one in `BUNDLE_PATHS`. */
  config: z.string().optional(),
  /**
   * Folders of workerd's disk services by the service's name. The folders are relative to `v3` in
   * the state folder.
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
