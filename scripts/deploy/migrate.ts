import type { Config } from "./config.ts"
import { runWranglerOrThrow } from "./wrangler.ts"

/** Applies all migrations; `where` holds wrangler's options that select the databases. */
export async function migrate(
  config: Config,
  configPath: string,
  where: string[],
): Promise<string> {
  const said: string[] = []
  for (const { binding, database_name: name } of config.d1_databases) {
    const words = ["d1", "migrations", "apply", binding, "--config", configPath, ...where]
    const { output } = await runWranglerOrThrow(words)
    const isNew = !output.includes("No migrations to apply")
    said.push(`${name} ${isNew ? "brought to the newest migration" : "has every migration"}`)
  }
  return said.join(", ")
}
