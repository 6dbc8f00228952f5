import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { CliError } from "../cli/cli-error.ts"
import { areBundlesCurrent, BUNDLE_PATHS, SITE_FOLDER } from "../start/bundles.ts"

/**
 * Builds the documentation site, unless the existing site was built from the present sources.
 * Returns a summary. Throws a CliError if the build fails.
 */
export async function ensureSite(): Promise<string> {
  if (existsSync(SITE_FOLDER) && areBundlesCurrent(BUNDLE_PATHS.siteStamp)) return "up to date"
  console.error("Building the documentation ...")
  // Runs the build as its own process, so that the memory of the build is freed at the end.
  const child = spawn(process.execPath, ["scripts/site/main.ts"], {
    stdio: ["ignore", "ignore", "inherit"],
  })
  await once(child, "close")
  if (child.exitCode !== 0) throw new CliError("The documentation could not be built.")
  return "built"
}
