import { resolve } from "node:path"
import { CliError, runScript } from "../cli/cli-error.ts"
import { makeFfmpegEnvironment, hasOwnFfmpeg } from "../cli/media-tools.ts"
import { runTests } from "./run-tests.ts"
import { formatSummary } from "./test-report.ts"
import { ensureSetUp } from "../setup/main.ts"
import { fliteStep } from "../setup/test-tools.ts"
import { ensureCachedFfmpeg } from "../setup/own-ffmpeg.ts"
import { runOptionalSetupStep } from "../setup/step.ts"

/**
 * Folder of the ffmpeg build to test. The build of `npm run setup -- --ffmpeg` has another folder.
 */
const FOLDER = resolve("node_modules/.cache/ffmpeg-tested")

/** Paths of the tests that use ffmpeg or ffprobe. */
const TESTS_OF_MEDIA = [
  "test/container/captions/",
  "test/container/sandbox/",
  "test/container/tasks/",
  "test/container/tools/",
  "test/ffmpeg/policy/ffmpeg",
  "test/kinds/command/facts/wrong",
  "test/kinds/command/hints/failing",
  "test/scripts/setup/ffmpeg-facts",
  "test/scripts/setup/own-ff",
  "test/system/develop/demo",
  "test/system/media/",
  "test/system/security/corpus",
  "test/system/security/hostile-",
  "test/system/web/fetch",
]

await runScript(async () => {
  await ensureCachedFfmpeg(FOLDER)
  if (!hasOwnFfmpeg(FOLDER)) {
    throw new CliError(
      `${FOLDER} cannot be entered by the users of tools: clone to a folder that all users may enter.`,
    )
  }
  Object.assign(process.env, makeFfmpegEnvironment(FOLDER))
  await ensureSetUp()
  await runOptionalSetupStep(fliteStep, "The tests that need speech are skipped.")
  const named = process.argv.slice(2)
  console.log(formatSummary(await runTests(named.length > 0 ? named : TESTS_OF_MEDIA)))
})
