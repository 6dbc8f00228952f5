import { existsSync } from "node:fs"
import { join } from "node:path"
import { parseSpeechModels } from "../../src/contract/speech-models.ts"
import { ensureSpeechModel, hasSpeechModel } from "../../container/models/fetch-model.ts"
import { CliError } from "../cli/cli-error.ts"
import { findPythonEnvironmentFolder, makePythonEnvironmentStep } from "./python-environment.ts"
import { runOptionalSetupStep } from "./step.ts"
import type { SetupStep } from "./step.ts"

const NAME = "speech"
const { SPEECH_PYTHON_PATH: ownPython, SPEECH_MODELS_PATH: ownModels } = process.env

/**
 * Path of the Python with faster-whisper: SPEECH_PYTHON_PATH, else the Python of the set-up step.
 */
export const SPEECH_PYTHON_PATH =
  ownPython ?? join(findPythonEnvironmentFolder(NAME), "bin", "python")

/**
 * Folder of the speech models, each in a subfolder with its name: SPEECH_MODELS_PATH, else the
 * folder of the set-up step.
 */
export const SPEECH_MODELS_PATH = ownModels ?? findPythonEnvironmentFolder("models")

const environment = makePythonEnvironmentStep({
  name: NAME,
  label: "faster-whisper",
  neededFor: "Lathe transcribes speech by faster-whisper, which needs",
  proof: ["python", "-c", "import faster_whisper"],
})

/** Set-up step for faster-whisper, which transcribes speech. */
const fasterWhisper: SetupStep = {
  ...environment,
  async isDone() {
    return ownPython !== undefined || (await environment.isDone())
  },
}

/**
 * Runs `handle` for the set-up steps of faster-whisper and of each speech model that the settings
 * name. The default `handle` installs what a step lacks. The service can run without both.
 */
export async function ensureSpeechTools(
  handle: typeof runOptionalSetupStep = runOptionalSetupStep,
): Promise<void> {
  const lack = "Lathe continues without it, and transcribes nothing."
  if (!(await handle(fasterWhisper, lack))) return
  const { WHISPER_MODEL = "base", WHISPER_MODELS = "" } = process.env
  const { default: first, names } = parseSpeechModels({ WHISPER_MODEL, WHISPER_MODELS })
  const isFolder = WHISPER_MODEL.includes("/")
  for (const name of names) {
    const step = isFolder && name === first ? modelFolder(WHISPER_MODEL) : speechModel(name)
    const affected = name === first ? "jobs that name no other model" : "jobs that name it"
    await handle(step, `Lathe continues without it, and does not transcribe ${affected}.`)
  }
}

function speechModel(name: string): SetupStep {
  return {
    name: `the speech model ${name}`,
    advice: `The speech model ${name} is not in ${SPEECH_MODELS_PATH}.`,
    isDone: async () => await hasSpeechModel(SPEECH_MODELS_PATH, name),
    canMake: () => Promise.resolve(true),
    async make() {
      const replaces = ownModels === undefined
      const of = { name, root: SPEECH_MODELS_PATH, python: SPEECH_PYTHON_PATH, replaces }
      await ensureSpeechModel(of).catch((error: unknown) => {
        throw new CliError(error instanceof Error ? error.message : String(error), { cause: error })
      })
    },
  }
}

function modelFolder(folder: string): SetupStep {
  const advice = `WHISPER_MODEL is the folder ${folder}, which has no model.bin.`
  return {
    name: `the speech model of ${folder}`,
    advice,
    lack: advice,
    isDone: () => Promise.resolve(existsSync(join(folder, "model.bin"))),
    canMake: () => Promise.resolve(false),
    make: () => Promise.resolve(),
  }
}
