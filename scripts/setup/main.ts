import { parseArgs } from "node:util"
import { CliError, runScript } from "../cli/cli-error.ts"
import { ensureServiceBundles } from "./build.ts"
import { ffmpegStep } from "./ffmpeg.ts"
import { ffmpegCapabilitiesStep } from "./ffmpeg-facts.ts"
import { bubblewrapStep, launcherStep } from "./launcher.ts"
import { ensureOwnFfmpeg } from "./own-ffmpeg.ts"
import { ensureSpeechTools } from "./speech.ts"
import { ensureSetupSteps, runOptionalSetupStep } from "./step.ts"
import { ytDlpStep } from "./yt-dlp.ts"
import { ensureSite } from "../site/ensure.ts"

/** Installs missing tools, stores the capabilities of ffmpeg, and bundles the service. */
export async function ensureSetUp(): Promise<void> {
  await ensureTools()
  await ensureFfmpegCapabilities()
  ensureServiceBundles()
}

/**
 * Stores ffmpeg's capabilities, unless a file with the capabilities exists or FFMPEG_FACTS is set.
 */
export async function ensureFfmpegCapabilities(): Promise<void> {
  if (process.env["FFMPEG_FACTS"] !== undefined) return
  await runOptionalSetupStep(
    ffmpegCapabilitiesStep,
    "Lathe continues without it, and finds more mistakes of commands only at their run.",
  )
}

/**
 * Installs the tools that the service lacks. Continues without yt-dlp, faster-whisper and speech
 * models. The service then cannot fetch or cannot transcribe.
 */
async function ensureTools(): Promise<void> {
  await ensureSetupSteps([ffmpegStep, bubblewrapStep, launcherStep])
  await runOptionalSetupStep(
    ytDlpStep,
    "Lathe continues without it, and fetches nothing from the web.",
  )
  await ensureSpeechTools()
}

if (import.meta.main) {
  await runScript(async () => {
    if (readFlag()) {
      await ensureTools()
      await ensureOwnFfmpeg()
    }
    const site = ensureSite().catch((error: unknown) => {
      if (!(error instanceof CliError)) throw error
      console.error(`${error.message}\nLathe continues without its documentation at /docs.`)
    })
    await ensureSetUp()
    await site
    console.log("Lathe is set up.")
  })
}

/**
 * Reads the flag --ffmpeg, which requests the project's own ffmpeg. Throws a CliError for other
 * arguments.
 */
function readFlag(): boolean {
  try {
    return parseArgs({ options: { ffmpeg: { type: "boolean" } } }).values.ffmpeg ?? false
  } catch (error) {
    throw new CliError("Usage: npm run setup [-- --ffmpeg]", { cause: error })
  }
}
