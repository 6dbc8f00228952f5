import { once } from "node:events"
import { runScript } from "./local/complaint.ts"
import { readPlace } from "./local/place.ts"
import { startService } from "./local/service.ts"
import { ensureSetUp } from "./setup.ts"

const STOP_WITHIN_MS = 15_000

await runScript(async () => {
  const place = readPlace(process.env)
  await ensureSetUp()
  const asked = stopSignal()
  try {
    const service = await startService(place, asked)
    console.log(`Lathe serves ${place.origin}/v1`)
    if (!asked.aborted) await once(asked, "abort")
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref()
    await service.stop()
  } catch (error) {
    if (!asked.aborted) throw error
  }
})
process.exit()

/** Aborted when this process is first asked to end; npm asks again what the terminal has asked. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => controller.abort())
  }
  return controller.signal
}
