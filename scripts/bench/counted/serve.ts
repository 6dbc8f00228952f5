import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { runScript } from "../../cli/cli-error.ts"
import { workerdBuildSchema } from "../../start/workerd-build.ts"
import { readServiceConfig } from "../../cli/service-config.ts"
import { startService } from "../../start/service.ts"
import { makeStopSignal } from "../../cli/stop-signal.ts"

// Starts the service of `npm start` with the runtime that build.ts wrote into a folder. The only
// argument is that folder.

await runScript(async () => {
  const [folder = ""] = process.argv.slice(2)
  const config = readServiceConfig(process.env)
  const record: unknown = JSON.parse(readFileSync(join(folder, "workerd.json"), "utf8"))
  const stop = makeStopSignal()
  const service = await startService(config, workerdBuildSchema.parse(record), stop)
  console.log(`Lathe serves ${config.origin}/v1`)
  if (!stop.aborted) await once(stop, "abort")
  await service.stop()
})
process.exit()
