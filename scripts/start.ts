import { enableCompileCache } from "node:module"
import { pathToFileURL } from "node:url"
import { BUILT } from "./local/built.ts"
import { runScript } from "./local/cli-error.ts"
import { ensureBuilt } from "./setup/build.ts"

// Imports little, so that it is quick and small to run from its source, too.

await runScript(async () => {
  ensureBuilt()
  enableCompileCache(BUILT.compiled)
  await import(pathToFileURL(BUILT.service).href)
})
