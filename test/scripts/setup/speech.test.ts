import { execFile } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const SCRIPT =
  'import { ensureSpeechTools } from "./scripts/setup/speech.ts"; await ensureSpeechTools()'

/** Output of the set-up with the operator's own Python and folder of models. */
async function setUp(root: string, more: Record<string, string>): Promise<string> {
  const words = ["--input-type=module", "--eval", SCRIPT]
  const own = { SPEECH_PYTHON_PATH: "/nonexistent/python", SPEECH_MODELS_PATH: root }
  // Nothing listens there.
  const env = { ...process.env, ...own, HF_ENDPOINT: "http://127.0.0.1:9", ...more }
  return (await promisify(execFile)(process.execPath, words, { env })).stderr
}

async function makeModel(name: string): Promise<string> {
  const folder = await makeTempFolder("models")
  onTestFinished(async () => await folder[Symbol.asyncDispose]())
  await mkdir(join(folder.path, name))
  await writeFile(join(folder.path, name, "model.bin"), "a model")
  return folder.path
}

test("the operator's own models need no source", async () => {
  const root = await makeModel("huge")
  expect(await setUp(root, { WHISPER_MODEL: "huge" })).toBe("")
  expect(await setUp("/nonexistent", { WHISPER_MODEL: join(root, "huge") })).toBe("")
})

test("the set-up continues without a model, and names the missing function", async () => {
  const root = await makeModel("huge")
  const said = await setUp(root, { WHISPER_MODELS: "huge, unknown" })
  expect(said).toContain("The speech model base could not be fetched. http://127.0.0.1:9/")
  expect(said).toContain(
    "Lathe continues without it, and does not transcribe jobs that name no other model.",
  )
  expect(said).not.toContain('"huge"')
  expect(said).toContain(`There is no speech model "unknown" in ${root}, and only base and tiny.en`)
  expect(said).toContain("Lathe continues without it, and does not transcribe jobs that name it.")
})

test("a folder without a model is named", async () => {
  const root = await makeModel("huge")
  expect(await setUp(root, { WHISPER_MODEL: root })).toBe(
    `WHISPER_MODEL is the folder ${root}, which has no model.bin.\n` +
      "Lathe continues without it, and does not transcribe jobs that name no other model.\n",
  )
})
