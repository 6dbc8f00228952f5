import { readSpeechModels } from "../../src/contract/speech-models.ts"
import { fetchModel } from "./fetch-model.ts"

/** Fetches the models that the settings name: `node main.ts FOLDER PYTHON`. */
const [root, python] = process.argv.slice(2)
if (root === undefined || python === undefined) throw new Error("main.ts FOLDER PYTHON")
const { names } = readSpeechModels({
  WHISPER_MODEL: process.env["WHISPER_MODEL"] ?? "base",
  WHISPER_MODELS: process.env["WHISPER_MODELS"] ?? "",
})
for (const name of names) {
  await fetchModel({ name, root, python, replaces: true })
  console.log(`The speech model ${name} is in ${root}.`)
}
