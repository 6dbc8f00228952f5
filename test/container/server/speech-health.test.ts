import { expect, test } from "vitest"
import { z } from "zod"
import { runnerHealthSchema } from "../../../src/contract/runner-health.ts"
import { toRunnerSettings, parseRunnerEnvironment } from "../../../container/settings.ts"
import { startHarness } from "../harness.ts"
import { SPEECH_MODELS_PATH, SPEECH_PYTHON_PATH } from "../../../scripts/setup/speech.ts"
import { makeSkipSuffix, explainMissingSpeechModel } from "../../support/media/speech.ts"

const SPEECH_ENVIRONMENT = { SPEECH_PYTHON_PATH, SPEECH_MODELS_PATH }
const lack = await explainMissingSpeechModel()

async function healthOf(environment: Record<string, string>) {
  const { speech, toolPaths } = toRunnerSettings(parseRunnerEnvironment(environment))
  const harness = await startHarness({ speech, toolPaths })
  try {
    const answer = await harness.call("GET", "/health")
    return z.looseObject(runnerHealthSchema.shape).parse(await answer.json())
  } finally {
    await harness.close()
  }
}

test.skipIf(lack !== null)(
  `health lists the engine, its models and languages${makeSkipSuffix(lack)}`,
  async () => {
    const health = await healthOf({ ...SPEECH_ENVIRONMENT, WHISPER_MODELS: "huge" })
    expect(health).toMatchObject({
      whisper: expect.stringMatching(/^\d+\.\d+/),
      speech: {
        engine: expect.stringMatching(/^faster-whisper \S+ \(ctranslate2 \S+\)$/),
        models: ["base"],
        languages: expect.arrayContaining(["en", "de", "ja"]),
      },
      speech_problem: null,
    })
  },
)

test.skipIf(lack !== null)(
  `health reports a missing default model${makeSkipSuffix(lack)}`,
  async () => {
    const health = await healthOf({ ...SPEECH_ENVIRONMENT, WHISPER_MODEL: "huge" })
    expect(health).toMatchObject({
      whisper: "unavailable",
      speech: null,
      speech_problem: 'the speech model "huge" is missing',
    })
  },
)

test("a runner without faster-whisper reports that", async () => {
  const health = await healthOf({ SPEECH_PYTHON_PATH: "/nowhere/bin/python" })
  expect(health).toMatchObject({
    whisper: "unavailable",
    speech: null,
    speech_problem: "faster-whisper is not installed, or does not run",
  })
})
