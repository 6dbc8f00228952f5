import { runScript } from "./local/cli-error.ts"
import { bubblewrap } from "./setup/bubblewrap.ts"
import { ffmpeg } from "./setup/ffmpeg.ts"
import { launcher } from "./setup/launcher.ts"
import { ensureSteps, tryStep } from "./setup/step.ts"
import { ytDlp } from "./setup/yt-dlp.ts"

/** Installs whatever the service needs and lacks; without yt-dlp it does all but fetch. */
export async function ensureSetUp(): Promise<void> {
  await ensureSteps([ffmpeg, bubblewrap, launcher])
  await tryStep(ytDlp, "Lathe goes on without it, and fetches nothing from the web.")
}

if (import.meta.main) {
  await runScript(async () => {
    await ensureSetUp()
    console.log("Lathe is set up.")
  })
}
