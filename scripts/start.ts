import { once } from "node:events"
import { runScript } from "./local/cli-error.ts"
import { readServiceConfig } from "./local/service-config.ts"
import { startService } from "./local/service.ts"
import { stopSignal } from "./local/stop-signal.ts"
import { ensureSetUp } from "./setup.ts"

const STOP_WITHIN_MS = 15_000

await runScript(async () => {
  const config = readServiceConfig(process.env)
  await ensureSetUp()
  // What this process and its children write from here on is for nobody else.
  process.umask(0o077)
  const asked = stopSignal()
  try {
    const service = await startService(config, asked)
    console.log(`Lathe serves ${config.origin}/v1`)
    if (!asked.aborted) await once(asked, "abort")
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref()
    await service.stop()
  } catch (error) {
    if (!asked.aborted) throw error
  }
})
process.exit()
