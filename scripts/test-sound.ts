import { runScript } from "./local/cli-error.ts"
import { runWideTests } from "./local/run-wide-tests.ts"
import { ensureSetUp } from "./setup.ts"
import { flite } from "./setup/flite.ts"
import { tryStep } from "./setup/step.ts"

/** What of the tests is about sound and speech. */
const TESTS_OF_SOUND = [
  "test/container/captions/",
  "test/container/models/",
  "test/container/server/speech-health",
  "test/container/tasks/normalize/",
  "test/container/tasks/transcribe",
  "test/container/tools/loudness/",
  "test/container/tools/whisper/",
  "test/kinds/normalize/",
  "test/kinds/transcribe/",
  "test/resources/transcribe/",
  "test/scripts/speech",
  "test/system/demo-speech",
  "test/system/normalize",
  "test/system/transcribe",
]

await runScript(async () => {
  await ensureSetUp()
  await tryStep(flite, "The tests that need speech are skipped.")
  await runWideTests(TESTS_OF_SOUND)
})
