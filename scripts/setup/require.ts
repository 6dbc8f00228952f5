import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { ffmpeg } from "./ffmpeg.ts"
import { launcher } from "./launcher.ts"
import { ensureSpeech } from "./speech.ts"
import { mentionStep, requireSteps } from "./step.ts"
import { ytDlp } from "./yt-dlp.ts"

/** Settings that name a Python of the operator's own, and what does not work without it. */
const OWN_PYTHONS = {
  FETCH_PYTHON_PATH: "fetches nothing from the web",
  SPEECH_PYTHON_PATH: "transcribes nothing",
}

/**
 * Looks for the tools of the service, and installs none. Throws a CliError of one sentence that names
 * the setting or the set-up where the service cannot do without a tool; says what does not work where
 * it can.
 */
export async function requireTools(): Promise<void> {
  await requireSteps([ffmpeg, launcher])
  await mentionStep(ytDlp, "Lathe goes on without it, and fetches nothing from the web.")
  await ensureSpeech(mentionStep)
  for (const [name, lack] of Object.entries(OWN_PYTHONS)) await mentionOwnPython(name, lack)
}

async function mentionOwnPython(name: string, lack: string): Promise<void> {
  const path = process.env[name]
  if (path === undefined) return
  try {
    await promisify(execFile)(path, ["-c", ""])
  } catch {
    console.error(
      `${name} is "${path}", which is no Python that can be run. Lathe goes on without it, and ${lack}.`,
    )
  }
}
