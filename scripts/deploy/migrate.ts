import type { Config } from "./config.ts"
import { demandWrangler } from "./wrangler.ts"

/** Brings the databases to the newest migration; `where` says which ones. */
export async function migrate(
  config: Config,
  configPath: string,
  where: string[],
): Promise<string> {
  const said: string[] = []
  for (const { binding, database_name: name } of config.d1_databases) {
    const words = ["d1", "migrations", "apply", binding, "--config", configPath, ...where]
    const { output } = await demandWrangler(words)
    const isNew = !output.includes("No migrations to apply")
    said.push(`${name} ${isNew ? "brought to the newest migration" : "has every migration"}`)
  }
  return said.join(", ")
}
