import { UNAVAILABLE } from "../../src/contract/runner-health.ts"
import type { RunnerHealth } from "../../src/contract/runner-health.ts"
import { isEnglishOnly } from "../../src/contract/speech-models.ts"
import { WHISPER_LANGUAGES } from "../../src/contract/whisper-languages.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import type { RunnerSettings } from "../settings.ts"
import { findModel, findWhisper, whisperArgv } from "../tools/whisper/environment.ts"
import { readVersionLine } from "./tool-versions.ts"

/** What a runner's health says of speech: without the default model it cannot be transcribed. */
export type SpeechHealth = Required<Pick<RunnerHealth, "whisper" | "speech" | "speech_problem">>

/** Asks the engine for its version and looks for the models; none of them is loaded for that. */
export async function readSpeechHealth(
  settings: RunnerSettings,
  sandbox: Sandbox | null,
): Promise<SpeechHealth> {
  const { names, default: first } = settings.speech.models
  const models = names.filter((name) => findModel(settings, name) !== null)
  const version = sandbox && (await readEngineVersion(settings, sandbox))
  if (!version) return lacking(sandbox && "faster-whisper is not installed, or does not run")
  if (!models.includes(first)) return lacking(`the speech model "${first}" is not there`)
  const [ofWhisper, ofEngine] = version
  const languages = models.every(isEnglishOnly) ? ["en"] : [...WHISPER_LANGUAGES]
  const engine = `faster-whisper ${ofWhisper} (ctranslate2 ${ofEngine})`
  return { whisper: ofWhisper, speech: { engine, models, languages }, speech_problem: null }
}

function lacking(problem: string | null): SpeechHealth {
  return { whisper: UNAVAILABLE, speech: null, speech_problem: problem }
}

/** The versions of faster-whisper and of CTranslate2, which it stands on. */
async function readEngineVersion(
  settings: RunnerSettings,
  sandbox: Sandbox,
): Promise<[string, string] | null> {
  const whisper = findWhisper(settings)
  if (!whisper) return null
  const { python: tool, packages, read } = whisper
  const command = { tool, argv: [...whisperArgv("version.py"), ...packages], read }
  const line = await readVersionLine(sandbox, command)
  const [, ofWhisper, ofEngine] = /^\S+ version (\S+) ctranslate2 (\S+)/.exec(line) ?? []
  return ofWhisper === undefined || ofEngine === undefined ? null : [ofWhisper, ofEngine]
}
