import { WIDE_TESTS_VARIABLE } from "../../test/support/wide.ts"
import { CliError, runScript } from "../cli/cli-error.ts"
import { runTests } from "./run-tests.ts"
import { formatSummary } from "./test-report.ts"
import { ensureSetUp } from "../setup/main.ts"
import { fliteStep } from "../setup/test-tools.ts"
import { runOptionalSetupStep } from "../setup/step.ts"

/**
 * Paths of the tests of each suite. A suite runs all cases of table-driven tests, of which `npm
 * test` skips some.
 */
const SUITES: Record<string, string[]> = {
  commands: ["test/ffmpeg/", "test/kinds/command/", "test/system/corpus"],
  deploy: ["test/scripts/deploy/", "test/system/live-check"],
  growth: ["test/system/growth/"],
  platform: ["test/cloudflare/"],
  renditions: [
    "test/container/tasks/render",
    "test/container/tools/quality/",
    "test/container/tools/renditions/",
    "test/kinds/renditions/",
    "test/kinds/transcode/",
    "test/api/routes/transcode",
    "test/system/media/renditions",
    "test/system/media/transcode",
  ],
  sound: [
    "test/container/captions/",
    "test/container/models/",
    "test/container/server/speech-health",
    "test/container/tasks/normalize/",
    "test/container/tasks/transcribe",
    "test/container/tools/loudness/",
    "test/container/tools/whisper/",
    "test/kinds/normalize/",
    "test/kinds/transcribe/",
    "test/api/routes/transcribe/",
    "test/scripts/setup/speech",
    "test/system/develop/demo-speech",
    "test/system/media/normalize",
    "test/system/media/transcribe",
  ],
  web: [
    "test/contract/allowed-site",
    "test/contract/user-url",
    "test/container/egress/",
    "test/container/sandbox/children",
    "test/container/sandbox/tiers/network",
    "test/container/tasks/fetch",
    "test/container/tasks/import/",
    "test/container/tasks/metadata",
    "test/container/tools/ytdlp/",
    "test/container/transfer/web/",
    "test/kinds/fetch/",
    "test/kinds/import-url",
    "test/api/routes/commands/url-inputs",
    "test/api/routes/commands/validate-urls",
    "test/api/routes/fetch/",
    "test/api/routes/files/imports",
    "test/system/web/fetch",
    "test/system/web/files-from-urls",
    "test/system/web/import-after-kill",
    "test/system/web/web-",
  ],
}

await runScript(async () => {
  const [name = "", ...named] = process.argv.slice(2)
  const tests = SUITES[name]
  if (!tests)
    throw new CliError(`There is no suite "${name}"; there are ${Object.keys(SUITES).join(", ")}.`)
  await ensureSetUp()
  if (name === "sound")
    await runOptionalSetupStep(fliteStep, "The tests that need speech are skipped.")
  process.env[WIDE_TESTS_VARIABLE] = "true"
  console.log(formatSummary(await runTests(named.length > 0 ? named : tests)))
})
