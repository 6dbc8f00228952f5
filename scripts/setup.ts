import { runScript } from "./local/cli-error.ts"
import { bubblewrap } from "./setup/bubblewrap.ts"
import { ensureBuilt } from "./setup/build.ts"
import { ffmpeg } from "./setup/ffmpeg.ts"
import { launcher } from "./setup/launcher.ts"
import { ensureSpeech } from "./setup/speech.ts"
import { ensureSteps, tryStep } from "./setup/step.ts"
import { ytDlp } from "./setup/yt-dlp.ts"

/** Installs and bundles whatever the service needs and lacks. */
export async function ensureSetUp(): Promise<void> {
  await ensureTools()
  ensureBuilt()
}

/**
 * Installs whatever the service needs and lacks. Without yt-dlp it fetches nothing, without
 * faster-whisper and a model it transcribes nothing, and it does all else.
 */
export async function ensureTools(): Promise<void> {
  await ensureSteps([ffmpeg, bubblewrap, launcher])
  await tryStep(ytDlp, "Lathe goes on without it, and fetches nothing from the web.")
  await ensureSpeech()
}

if (import.meta.main) {
  await runScript(async () => {
    await ensureSetUp()
    console.log("Lathe is set up.")
  })
}
