import { parseArgs } from "node:util"
import { CliError, runScript } from "./local/cli-error.ts"
import { bubblewrap } from "./setup/bubblewrap.ts"
import { ensureBuilt } from "./setup/build.ts"
import { ffmpeg } from "./setup/ffmpeg.ts"
import { ffmpegFacts } from "./setup/ffmpeg-facts.ts"
import { launcher } from "./setup/launcher.ts"
import { ensureOwnFfmpeg } from "./setup/own-ffmpeg.ts"
import { ensureSpeech } from "./setup/speech.ts"
import { ensureSteps, tryStep } from "./setup/step.ts"
import { ytDlp } from "./setup/yt-dlp.ts"

/** Installs and bundles whatever the service needs and lacks. */
export async function ensureSetUp(): Promise<void> {
  await ensureTools()
  await ensureFacts()
  ensureBuilt()
}

/** Notes what ffmpeg knows where that was not done, unless FFMPEG_FACTS says it. */
export async function ensureFacts(): Promise<void> {
  if (process.env["FFMPEG_FACTS"] !== undefined) return
  await tryStep(ffmpegFacts, "Lathe goes on without it, and finds more mistakes of commands late.")
}

/**
 * Installs whatever the service needs and lacks. Without yt-dlp it fetches nothing, without
 * faster-whisper and a model it transcribes nothing, and it does all else.
 */
async function ensureTools(): Promise<void> {
  await ensureSteps([ffmpeg, bubblewrap, launcher])
  await tryStep(ytDlp, "Lathe goes on without it, and fetches nothing from the web.")
  await ensureSpeech()
}

if (import.meta.main) {
  await runScript(async () => {
    if (readFlag()) {
      await ensureTools()
      await ensureOwnFfmpeg()
    }
    await ensureSetUp()
    console.log("Lathe is set up.")
  })
}

/** Whether an ffmpeg of the project's own is wanted too. */
function readFlag(): boolean {
  try {
    return parseArgs({ options: { ffmpeg: { type: "boolean" } } }).values.ffmpeg ?? false
  } catch (error) {
    throw new CliError("Usage: npm run setup [-- --ffmpeg]", { cause: error })
  }
}
