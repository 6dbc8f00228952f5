import { spawnSync } from "node:child_process"
import { accessSync, constants, mkdirSync } from "node:fs"
import { CliError } from "../local/cli-error.ts"
import { BUILT, isBuilt } from "../local/built.ts"

/** Bundles what the service runs where that is not of the sources as they are. */
export function ensureBuilt(): void {
  if (isBuilt()) return
  requireWritable()
  console.error("Bundling the service ...")
  const { status } = spawnSync(process.execPath, ["scripts/build/main.ts"], { stdio: "inherit" })
  if (status !== 0) throw new CliError("The service could not be bundled.")
}

function requireWritable(): void {
  try {
    mkdirSync(BUILT.folder, { recursive: true })
    accessSync(BUILT.folder, constants.W_OK)
  } catch (error) {
    throw new CliError(
      `The service is not bundled from these sources, and this user may not write ${BUILT.folder}: run \`npm run setup\` as the user whose clone this is.`,
      { cause: error },
    )
  }
}
