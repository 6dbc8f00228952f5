import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { describeSandbox } from "../../../../container/sandbox/choose.ts"
import type { RunnerSettings } from "../../../../container/settings.ts"
import { transcribeSound } from "../../../../container/tools/whisper/transcribe-sound.ts"
import type {
  HeardSpeech,
  SpeechQuestion,
} from "../../../../container/tools/whisper/transcribe-sound.ts"
import { speechWorkersOf } from "../../../../container/tools/whisper/workers.ts"
import type { TaskFailure } from "../../../../container/failures.ts"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../../../../scripts/setup/speech.ts"
import { speak } from "../../../support/speech.ts"
import type { Voice } from "../../../support/speech.ts"
import { runnerSettings } from "../../../support/runner-settings.ts"
import { supportedTiers } from "../../../support/supported-tiers.ts"

const run = promisify(execFile)

/** Samples a second of sounds that are transcribed. */
export const RATE = 16_000

/** What transcribes as a runner does, and makes sounds for that. */
export type SpeechLab = {
  settings: RunnerSettings
  /** Samples of words that a voice of flite says. */
  say(text: string, voice?: Voice): Promise<Buffer>
  hear(
    sound: Buffer,
    differing?: Partial<SpeechQuestion> & { signal?: AbortSignal; accountId?: string },
  ): Promise<HeardSpeech | TaskFailure | "time limit">
  close(): Promise<void>
}

/** Opens a lab with the strongest sandbox that this machine has. */
export async function openSpeechLab(differing: Partial<RunnerSettings> = {}): Promise<SpeechLab> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-speech-"))
  const settings = {
    ...runnerSettings({ SPEECH_PYTHON_PATH, SPEECH_MODELS_PATH }),
    ...differing,
  }
  const [tier = "none"] = await supportedTiers()
  const sandbox = describeSandbox(tier, settings)
  const taskSandbox = { sandbox, uid: null, workspaceBytes: 0 }
  let sounds = 0
  return {
    settings,
    async say(text, voice = "slt") {
      sounds += 1
      const path = await speak(folder, { name: `${sounds}.wav`, voice, text })
      const raw = ["-f", "s16le", "-ar", String(RATE), "-ac", "1", `${path}.raw`]
      await run("ffmpeg", ["-v", "error", "-i", path, ...raw])
      return await readFile(`${path}.raw`)
    },
    async hear(sound, { signal = new AbortController().signal, accountId = "one", ...asked } = {}) {
      sounds += 1
      const path = join(folder, `${sounds}.raw`)
      await writeFile(path, sound)
      const { size } = await stat(path)
      const order = { account_id: accountId }
      return await transcribeSound(
        { order, settings, signal, status: { processingMs: 0 }, taskSandbox },
        {
          path,
          sampleCount: size / 2,
          model: "base",
          language: "auto",
          task: "transcribe",
          timeLimitMs: 60_000,
          onFraction: () => undefined,
          ...asked,
        },
      )
    },
    async close() {
      await speechWorkersOf(settings).close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What was heard; throws where that failed. */
export function heardIn(answer: HeardSpeech | TaskFailure | "time limit"): HeardSpeech {
  if (answer === "time limit") throw new Error("It took too long.")
  if ("segments" in answer) return answer
  throw new Error(answer.failure.message)
}

export function textOf({ segments }: HeardSpeech): string {
  return segments.map(({ text }) => text).join(" ")
}

/** A sound of this length that nobody speaks in: noise, or nothing where the level is 0. */
export function noise(seconds: number, level: number): Buffer {
  const samples = Int16Array.from({ length: seconds * RATE }, (_, index) => {
    // A generator of pseudo-random numbers, so that the noise is the same each time.
    const random = ((Math.imul(index + 1, 2_654_435_761) >>> 8) % 65_536) / 32_768 - 1
    return Math.round(random * level * 32_767)
  })
  return Buffer.from(samples.buffer)
}
