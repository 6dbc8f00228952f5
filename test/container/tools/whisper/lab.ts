import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { describeSandbox, findTiers } from "../../../../container/sandbox/choose.ts"
import { findProgram } from "../../../../container/sandbox/paths.ts"
import { makeSettings, readEnvironment } from "../../../../container/settings.ts"
import type { RunnerSettings } from "../../../../container/settings.ts"
import { transcribeSound } from "../../../../container/tools/whisper/transcribe-sound.ts"
import type {
  HeardSpeech,
  SpeechQuestion,
} from "../../../../container/tools/whisper/transcribe-sound.ts"
import { speechWorkersOf } from "../../../../container/tools/whisper/workers.ts"
import type { TaskFailure } from "../../../../container/failures.ts"
import { environmentFolder } from "../../../../scripts/setup/python-environment.ts"

const run = promisify(execFile)

export const SPEECH_ENVIRONMENT = {
  SPEECH_PYTHON_PATH: join(environmentFolder("speech"), "bin", "python"),
  SPEECH_MODELS_PATH: environmentFolder("models"),
}

/** Samples a second of sounds that are transcribed. */
export const RATE = 16_000

/** Why speech cannot be transcribed here, as a sentence; null where it can. */
export function findLack(): string | null {
  if (!existsSync(SPEECH_ENVIRONMENT.SPEECH_PYTHON_PATH)) return "faster-whisper is not installed"
  const model = join(SPEECH_ENVIRONMENT.SPEECH_MODELS_PATH, "base", "model.bin")
  if (!existsSync(model)) return "the speech model base is not there"
  return existsSync(findProgram("flite")) ? null : "flite, which speaks, is not installed"
}

/** Why tests are skipped, behind their name. */
export function reasonOf(lack: string | null): string {
  return lack === null ? "" : ` (skipped: ${lack})`
}

/** What transcribes as a runner does, and makes sounds for that. */
export type SpeechLab = {
  settings: RunnerSettings
  /** Samples of words that a voice of flite says. */
  say(text: string, voice?: string): Promise<Buffer>
  hear(
    sound: Buffer,
    differing?: Partial<SpeechQuestion> & { signal?: AbortSignal; accountId?: string },
  ): Promise<HeardSpeech | TaskFailure>
  close(): Promise<void>
}

/** Opens a lab with the strongest sandbox that this machine has. */
export async function openSpeechLab(differing: Partial<RunnerSettings> = {}): Promise<SpeechLab> {
  const folder = await mkdtemp(join(tmpdir(), "lathe-speech-"))
  const settings = { ...makeSettings(readEnvironment(SPEECH_ENVIRONMENT)), ...differing }
  const [tier = "none"] = await findTiers()
  const sandbox = describeSandbox(tier, settings)
  const taskSandbox = { sandbox, uid: null, workspaceBytes: 0 }
  let sounds = 0
  return {
    settings,
    async say(text, voice = "slt") {
      sounds += 1
      const path = join(folder, `${sounds}.wav`)
      await run("flite", ["-voice", voice, "-t", text, "-o", path])
      const raw = ["-f", "s16le", "-ar", String(RATE), "-ac", "1", `${path}.raw`]
      await run("ffmpeg", ["-v", "error", "-i", path, ...raw])
      return await readFile(`${path}.raw`)
    },
    async hear(sound, { signal = new AbortController().signal, accountId = "one", ...asked } = {}) {
      sounds += 1
      const path = join(folder, `${sounds}.raw`)
      await writeFile(path, sound)
      const { size } = await stat(path)
      const work = { kind: "transcribe", run_seconds_max: 60 }
      const order = { account_id: accountId, plan: "paid", work }
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
export function heardIn(answer: HeardSpeech | TaskFailure): HeardSpeech {
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

/** Words that have to be changed, added or left out to get from one text to another, by its length. */
export function wordErrorRate(said: string, heard: string): number {
  const [expected, actual] = [said, heard].map(
    (text) => text.toLowerCase().match(/[a-z0-9']+/g) ?? [],
  )
  if (!expected || !actual) return 1
  let row = [...Array(actual.length + 1).keys()]
  for (const [index, word] of expected.entries()) {
    const above = row
    row = [index + 1]
    for (const [place, other] of actual.entries()) {
      const changed = (above[place] ?? 0) + (word === other ? 0 : 1)
      row.push(Math.min((above[place + 1] ?? 0) + 1, (row[place] ?? 0) + 1, changed))
    }
  }
  return (row.at(-1) ?? 0) / expected.length
}
