import { spawnSync } from "node:child_process"
import { accessSync, constants, mkdirSync } from "node:fs"
import { CliError } from "../cli/cli-error.ts"
import { BUNDLE_PATHS, areBundlesCurrent } from "../start/bundles.ts"

/** Bundles the programs of the service, unless the existing bundles match the present sources. */
export function ensureServiceBundles(): void {
  if (areBundlesCurrent()) return
  requireWritable()
  console.error("Bundling the service ...")
  const { status } = spawnSync(process.execPath, ["scripts/build/main.ts"], { stdio: "inherit" })
  if (status !== 0) throw new CliError("The service could not be bundled.")
}

function requireWritable(): void {
  try {
    mkdirSync(BUNDLE_PATHS.folder, { recursive: true })
    accessSync(BUNDLE_PATHS.folder, constants.W_OK)
  } catch (error) {
    throw new CliError(
      `The service is not bundled from these sources, and this user may not write ${BUNDLE_PATHS.folder}: run \`npm run setup\` as the owner of this clone.`,
      { cause: error },
    )
  }
}
