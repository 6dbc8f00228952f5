import { parseSpeechModels } from "../../src/contract/speech-models.ts"
import { ensureSpeechModel } from "./fetch-model.ts"

/**
 * Downloads the speech models that WHISPER_MODEL and WHISPER_MODELS name. Usage: `node main.ts
 * FOLDER PYTHON`.
 */
const [root, python] = process.argv.slice(2)
if (root === undefined || python === undefined) throw new Error("Usage: main.ts FOLDER PYTHON")
const { names } = parseSpeechModels({
  WHISPER_MODEL: process.env["WHISPER_MODEL"] ?? "base",
  WHISPER_MODELS: process.env["WHISPER_MODELS"] ?? "",
})
for (const name of names) {
  await ensureSpeechModel({ name, root, python, replaces: true })
  console.log(`The speech model ${name} is in ${root}.`)
}
