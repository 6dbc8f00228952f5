import type { WranglerConfig } from "./config.ts"
import { runWranglerOrThrow } from "./wrangler.ts"

/**
 * Applies all migrations to the databases of a configuration. `where` has wrangler's options that
 * select remote or local databases. Returns a summary.
 */
export async function migrateDeployedDatabases(
  config: WranglerConfig,
  configPath: string,
  where: string[],
): Promise<string> {
  const summaries: string[] = []
  for (const { binding, database_name: name } of config.d1_databases) {
    const words = ["d1", "migrations", "apply", binding, "--config", configPath, ...where]
    const { output } = await runWranglerOrThrow(words)
    const isNew = !output.includes("No migrations to apply")
    summaries.push(`${name} ${isNew ? "brought to the newest migration" : "has every migration"}`)
  }
  return summaries.join(", ")
}
