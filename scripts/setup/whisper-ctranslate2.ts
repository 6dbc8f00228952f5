import { join } from "node:path"
import { environmentFolder, pythonEnvironment } from "./python-environment.ts"

const NAME = "whisper-ctranslate2"

/** Path of the program, once the step is done. */
export const WHISPER_CTRANSLATE2_PATH = join(environmentFolder(NAME), "bin", NAME)

/** whisper-ctranslate2, which a benchmark alone uses. */
export const whisperCtranslate2 = pythonEnvironment({
  name: NAME,
  neededFor: "The benchmark of transcriptions needs",
  proof: [NAME, "--version"],
})
