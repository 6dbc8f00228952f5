import { enableCompileCache } from "node:module"
import { pathToFileURL } from "node:url"
import { BUNDLE_PATHS } from "./bundles.ts"
import { runScript } from "../cli/cli-error.ts"
import { ensureServiceBundles } from "../setup/build.ts"

// This script imports little, so that it starts fast and uses little memory, even without a bundle.

await runScript(async () => {
  ensureServiceBundles()
  enableCompileCache(BUNDLE_PATHS.compiled)
  await import(pathToFileURL(BUNDLE_PATHS.service).href)
})
