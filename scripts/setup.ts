import { runScript } from "./local/cli-error.ts"
import { bubblewrap } from "./setup/bubblewrap.ts"
import { ffmpeg } from "./setup/ffmpeg.ts"
import { launcher } from "./setup/launcher.ts"
import { ensureSteps } from "./setup/step.ts"
import { ytDlp } from "./setup/yt-dlp.ts"

/** Installs whatever the service needs and lacks. */
export async function ensureSetUp(): Promise<void> {
  await ensureSteps([ffmpeg, bubblewrap, launcher, ytDlp])
}

if (import.meta.main) {
  await runScript(async () => {
    await ensureSetUp()
    console.log("Lathe is set up.")
  })
}
