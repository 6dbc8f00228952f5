import { resolve } from "node:path"
import { CliError, runScript } from "./local/cli-error.ts"
import { environmentOf, hasOwnFfmpeg } from "./local/media-tools.ts"
import { runTests } from "./local/run-tests.ts"
import { summaryLine } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"
import { flite } from "./setup/flite.ts"
import { ensureCachedFfmpeg } from "./setup/own-ffmpeg.ts"
import { tryStep } from "./setup/step.ts"

/** Beside the build that this clone works with, which stays as it is. */
const FOLDER = resolve("node_modules/.cache/ffmpeg-tested")

/** Tests that meet ffmpeg or ffprobe. */
const TESTS_OF_MEDIA = [
  "test/container/captions/",
  "test/container/sandbox/",
  "test/container/tasks/",
  "test/container/tools/",
  "test/kinds/command/facts/wrong",
  "test/kinds/command/policy/ffmpeg",
  "test/hints/command/failing",
  "test/scripts/ffmpeg-facts",
  "test/scripts/own-ff",
  "test/system/bundles",
  "test/system/commands",
  "test/system/corpus",
  "test/system/demo",
  "test/system/empty-outputs",
  "test/system/fetch",
  "test/system/ffmpeg",
  "test/system/hostile-",
  "test/system/normalize",
  "test/system/output-records",
  "test/system/recipes",
  "test/system/renditions",
  "test/system/told-by-ffmpeg",
  "test/system/transcode",
  "test/system/transcribe",
  "test/system/warnings",
]

await runScript(async () => {
  await ensureCachedFfmpeg(FOLDER)
  if (!hasOwnFfmpeg(FOLDER)) {
    throw new CliError(
      `${FOLDER} cannot be entered by the users that tools run as: clone to a folder that everyone may enter.`,
    )
  }
  Object.assign(process.env, environmentOf(FOLDER))
  await ensureSetUp()
  await tryStep(flite, "The tests that need speech are skipped.")
  const named = process.argv.slice(2)
  console.log(summaryLine(await runTests(named.length > 0 ? named : TESTS_OF_MEDIA)))
})
