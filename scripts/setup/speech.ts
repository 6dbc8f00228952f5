import { existsSync } from "node:fs"
import { join } from "node:path"
import { readSpeechModels } from "../../src/contract/speech-models.ts"
import { fetchModel, hasModel } from "../../container/models/fetch-model.ts"
import { CliError } from "../local/cli-error.ts"
import { environmentFolder, pythonEnvironment } from "./python-environment.ts"
import { tryStep } from "./step.ts"
import type { SetupStep } from "./step.ts"

const NAME = "speech"
const { SPEECH_PYTHON_PATH: ownPython, SPEECH_MODELS_PATH: ownModels } = process.env

/** Path of the Python that has faster-whisper, once the step is done; an operator may have another. */
export const SPEECH_PYTHON_PATH = ownPython ?? join(environmentFolder(NAME), "bin", "python")

/** The folder of the speech models, each in a folder of its name; an operator may have another. */
export const SPEECH_MODELS_PATH = ownModels ?? environmentFolder("models")

const environment = pythonEnvironment({
  name: NAME,
  label: "faster-whisper",
  neededFor: "Lathe transcribes speech by faster-whisper, which needs",
  proof: ["python", "-c", "import faster_whisper"],
})

/** faster-whisper, which transcribes speech. */
const fasterWhisper: SetupStep = {
  ...environment,
  async isDone() {
    return ownPython !== undefined || (await environment.isDone())
  },
}

/**
 * Handles faster-whisper and the models that the settings name, each a step that the service can do
 * without: by default a step is made where it is not done.
 */
export async function ensureSpeech(handle: typeof tryStep = tryStep): Promise<void> {
  const lack = "Lathe goes on without it, and transcribes nothing."
  if (!(await handle(fasterWhisper, lack))) return
  const { WHISPER_MODEL = "base", WHISPER_MODELS = "" } = process.env
  const { default: first, names } = readSpeechModels({ WHISPER_MODEL, WHISPER_MODELS })
  const isFolder = WHISPER_MODEL.includes("/")
  for (const name of names) {
    const step = isFolder && name === first ? modelFolder(WHISPER_MODEL) : speechModel(name)
    const affected = name === first ? "what names no other model" : "what names it"
    await handle(step, `Lathe goes on without it, and does not transcribe ${affected}.`)
  }
}

function speechModel(name: string): SetupStep {
  return {
    name: `the speech model ${name}`,
    advice: `The speech model ${name} is not in ${SPEECH_MODELS_PATH}.`,
    isDone: async () => await hasModel(SPEECH_MODELS_PATH, name),
    canMake: () => Promise.resolve(true),
    async make() {
      const replaces = ownModels === undefined
      const of = { name, root: SPEECH_MODELS_PATH, python: SPEECH_PYTHON_PATH, replaces }
      await fetchModel(of).catch((error: unknown) => {
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
