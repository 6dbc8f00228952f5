import { spawnSync } from "node:child_process"
import { CliError } from "../local/cli-error.ts"
import { isBuilt } from "../local/built.ts"

/** Bundles what the service runs where that is not of the sources as they are. */
export function ensureBuilt(): void {
  if (isBuilt()) return
  console.error("Bundling the service ...")
  const { status } = spawnSync(process.execPath, ["scripts/build/main.ts"], { stdio: "inherit" })
  if (status !== 0) throw new CliError("The service could not be bundled.")
}
