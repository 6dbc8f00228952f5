import { once } from "node:events"
import { runScript } from "./cli-error.ts"
import { canDieWithParent } from "./parent-death.ts"
import { readRuntimeRecord } from "./runtime-record.ts"
import { readServiceConfig } from "./service-config.ts"
import { startService } from "./service.ts"
import { stopSignal } from "./stop-signal.ts"
import { adviseOwnFfmpeg } from "../setup/own-ffmpeg.ts"
import { requireTools } from "../setup/require.ts"
import { ensureFacts } from "../setup.ts"

// The service, which scripts/start.ts imports as it is bundled.

const STOP_WITHIN_MS = 15_000

await runScript(async () => {
  const config = readServiceConfig(process.env)
  const tools = requireTools().then(ensureFacts)
  // Waits for processes, as that does, and is known from here on.
  canDieWithParent()
  await tools
  // What this process and its children write from here on is for nobody else.
  process.umask(0o077)
  const asked = stopSignal()
  try {
    const service = await startService(config, readRuntimeRecord(), asked)
    console.log(`Lathe serves ${config.origin}/v1`)
    await adviseOwnFfmpeg()
    if (!asked.aborted) await once(asked, "abort")
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref()
    await service.stop()
  } catch (error) {
    if (!asked.aborted) throw error
  }
})
process.exit()
