import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { createTierSandbox } from "../../../../container/sandbox/tiers/choose-sandbox.ts"
import type { RunnerSettings } from "../../../../container/settings.ts"
import { transcribeAudio } from "../../../../container/tools/whisper/transcribe-audio.ts"
import type {
  SpeechTranscript,
  TranscriptionRequest,
} from "../../../../container/tools/whisper/transcribe-audio.ts"
import { getSpeechWorkerPool } from "../../../../container/tools/whisper/speech-worker-pool.ts"
import type { TaskFailure } from "../../../../container/task-failure.ts"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../../../../scripts/setup/speech.ts"
import { generateSpeech } from "../../../support/media/speech.ts"
import type { Voice } from "../../../support/media/speech.ts"
import { makeTestRunnerSettings } from "../../../support/runner/runner-settings.ts"
import { listSupportedTiers } from "../../../support/runner/supported-tiers.ts"

const run = promisify(execFile)

/** Sample rate of transcribed audio. */
export const RATE = 16_000

/** Transcriber with the settings of a runner, and a speech synthesizer. */
export type SpeechLab = {
  settings: RunnerSettings
  /** Returns samples of words in a voice of flite. */
  say(text: string, voice?: Voice): Promise<Buffer>
  transcribe(
    sound: Buffer,
    differing?: Partial<TranscriptionRequest> & { signal?: AbortSignal; accountId?: string },
  ): Promise<SpeechTranscript | TaskFailure | "time limit">
  close(): Promise<void>
}

/** Opens a lab with the strongest sandbox of this machine. */
export async function openSpeechLab(differing: Partial<RunnerSettings> = {}): Promise<SpeechLab> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-speech-"))
  const settings = {
    ...makeTestRunnerSettings({ SPEECH_PYTHON_PATH, SPEECH_MODELS_PATH }),
    ...differing,
  }
  const [tier = "none"] = await listSupportedTiers()
  const sandbox = createTierSandbox(tier, settings)
  const taskSandbox = { sandbox, uid: null, workspaceBytes: 0 }
  let sounds = 0
  return {
    settings,
    async say(text, voice = "slt") {
      sounds += 1
      const path = await generateSpeech(folder, { name: `${sounds}.wav`, voice, text })
      const raw = ["-f", "s16le", "-ar", String(RATE), "-ac", "1", `${path}.raw`]
      await run("ffmpeg", ["-v", "error", "-i", path, ...raw])
      return await readFile(`${path}.raw`)
    },
    async transcribe(
      sound,
      { signal = new AbortController().signal, accountId = "one", ...asked } = {},
    ) {
      sounds += 1
      const path = join(folder, `${sounds}.raw`)
      await writeFile(path, sound)
      const { size } = await stat(path)
      const order = { account_id: accountId }
      return await transcribeAudio(
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
      await getSpeechWorkerPool(settings).close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the transcribed speech; throws for a failure. */
export function requireSpeech(
  answer: SpeechTranscript | TaskFailure | "time limit",
): SpeechTranscript {
  if (answer === "time limit") throw new Error("It took too long.")
  if ("segments" in answer) return answer
  throw new Error(answer.failure.message)
}

export function textOf({ segments }: SpeechTranscript): string {
  return segments.map(({ text }) => text).join(" ")
}

/** Returns samples without speech: noise, or silence at level 0. */
export function noise(seconds: number, level: number): Buffer {
  const samples = Int16Array.from({ length: seconds * RATE }, (_, index) => {
    // Pseudo-random numbers, so that the noise is always the same.
    const random = ((Math.imul(index + 1, 2_654_435_761) >>> 8) % 65_536) / 32_768 - 1
    return Math.round(random * level * 32_767)
  })
  return Buffer.from(samples.buffer)
}
