import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { runScript } from "../../local/cli-error.ts"
import { runtimeRecord } from "../../local/runtime-record.ts"
import { readServiceConfig } from "../../local/service-config.ts"
import { startService } from "../../local/service.ts"
import { stopSignal } from "../../local/stop-signal.ts"

// The service of `npm start`, with the runtime that build.ts made in the folder that is its one word.

await runScript(async () => {
  const [folder = ""] = process.argv.slice(2)
  const config = readServiceConfig(process.env)
  const record: unknown = JSON.parse(readFileSync(join(folder, "workerd.json"), "utf8"))
  const asked = stopSignal()
  const service = await startService(config, runtimeRecord.parse(record), asked)
  console.log(`Lathe serves ${config.origin}/v1`)
  if (!asked.aborted) await once(asked, "abort")
  await service.stop()
})
process.exit()
