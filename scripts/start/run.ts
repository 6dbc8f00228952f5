import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { ffmpegStep } from "../setup/ffmpeg.ts"
import { launcherStep } from "../setup/launcher.ts"
import { ensureSpeechTools } from "../setup/speech.ts"
import { reportMissingSetupStep, requireSetupSteps } from "../setup/step.ts"
import { ytDlpStep } from "../setup/yt-dlp.ts"
import { once } from "node:events"
import { runScript } from "../cli/cli-error.ts"
import { canKillWithParent } from "../cli/parent-death.ts"
import { readWorkerdBuild } from "./workerd-build.ts"
import { readServiceConfig } from "../cli/service-config.ts"
import { startService } from "./service.ts"
import { makeStopSignal } from "../cli/stop-signal.ts"
import { suggestOwnFfmpegBuild } from "../setup/own-ffmpeg.ts"
import { ensureFfmpegCapabilities } from "../setup/main.ts"

// Runs the service. scripts/start/main.ts imports the bundle of this file.

const STOP_WITHIN_MS = 15_000

/**
 * Settings that name a Python that the operator installed, and a clause about the feature that the
 * service lacks if that Python does not work.
 */
const OWN_PYTHONS = {
  FETCH_PYTHON_PATH: "fetches nothing from the web",
  SPEECH_PYTHON_PATH: "transcribes nothing",
}

/**
 * Checks the tools of the service and installs none. Throws a CliError if a required tool is
 * missing. Prints the unavailable feature if an optional tool is missing.
 */
async function requireTools(): Promise<void> {
  await requireSetupSteps([ffmpegStep, launcherStep])
  await reportMissingSetupStep(
    ytDlpStep,
    "Lathe continues without it, and fetches nothing from the web.",
  )
  await ensureSpeechTools(reportMissingSetupStep)
  for (const [name, lack] of Object.entries(OWN_PYTHONS)) await mentionOwnPython(name, lack)
}

async function mentionOwnPython(name: string, lack: string): Promise<void> {
  const path = process.env[name]
  if (path === undefined) return
  try {
    await promisify(execFile)(path, ["-c", ""])
  } catch {
    console.error(
      `${name} is "${path}", which is no working Python. Lathe continues without it, and ${lack}.`,
    )
  }
}

await runScript(async () => {
  const config = readServiceConfig(process.env)
  const tools = requireTools().then(ensureFfmpegCapabilities)
  // Looks for the program setpriv now, while the checks of the tools run. `canKillWithParent`
  // caches the result for later calls.
  canKillWithParent()
  await tools
  // Files that this process and its children create from here on are readable by this user only.
  process.umask(0o077)
  const stop = makeStopSignal()
  try {
    const service = await startService(config, readWorkerdBuild(), stop)
    console.log(`Lathe serves ${config.origin}/v1`)
    await suggestOwnFfmpegBuild()
    if (!stop.aborted) await once(stop, "abort")
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref()
    await service.stop()
  } catch (error) {
    if (!stop.aborted) throw error
  }
})
process.exit()
