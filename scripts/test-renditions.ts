import { runScript } from "./local/cli-error.ts"
import { runWideTests } from "./local/run-wide-tests.ts"
import { ensureSetUp } from "./setup.ts"

/** What of the tests is about renditions. */
const TESTS_OF_RENDITIONS = [
  "test/container/tasks/render",
  "test/container/tools/quality/",
  "test/container/tools/renditions/",
  "test/kinds/renditions/",
  "test/kinds/transcode/",
  "test/resources/transcode",
  "test/system/renditions",
  "test/system/transcode",
]

await runScript(async () => {
  await ensureSetUp()
  await runWideTests(TESTS_OF_RENDITIONS)
})
