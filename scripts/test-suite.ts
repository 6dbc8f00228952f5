import { WIDE } from "../test/support/wide.ts"
import { CliError, runScript } from "./local/cli-error.ts"
import { runTests } from "./local/run-tests.ts"
import { summaryLine } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"
import { flite } from "./setup/flite.ts"
import { tryStep } from "./setup/step.ts"

/** Where the tests of each suite are; a suite runs all cases of their tables. */
const SUITES: Record<string, string[]> = {
  commands: ["test/kinds/command/"],
  deploy: ["test/scripts/deploy/"],
  growth: ["test/system/growth/"],
  platform: ["test/platform/"],
  renditions: [
    "test/container/tasks/render",
    "test/container/tools/quality/",
    "test/container/tools/renditions/",
    "test/kinds/renditions/",
    "test/kinds/transcode/",
    "test/resources/transcode",
    "test/system/renditions",
    "test/system/transcode",
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
    "test/resources/transcribe/",
    "test/scripts/speech",
    "test/system/demo-speech",
    "test/system/normalize",
    "test/system/transcribe",
  ],
  web: [
    "test/contract/allowed-site",
    "test/contract/user-url",
    "test/container/egress/",
    "test/container/sandbox/children",
    "test/container/sandbox/network",
    "test/container/tasks/fetch",
    "test/container/tasks/import/",
    "test/container/tasks/metadata",
    "test/container/tools/ytdlp/",
    "test/container/transfer/web/",
    "test/kinds/fetch/",
    "test/kinds/import-url",
    "test/resources/commands/url-inputs",
    "test/resources/commands/validate-urls",
    "test/resources/fetch/",
    "test/resources/files/imports",
    "test/system/fetch",
    "test/system/files-from-urls",
    "test/system/import-after-kill",
    "test/system/web-",
  ],
}

await runScript(async () => {
  const [name = "", ...named] = process.argv.slice(2)
  const tests = SUITES[name]
  if (!tests)
    throw new CliError(`There is no suite "${name}"; there are ${Object.keys(SUITES).join(", ")}.`)
  await ensureSetUp()
  if (name === "sound") await tryStep(flite, "The tests that need speech are skipped.")
  process.env[WIDE] = "true"
  console.log(summaryLine(await runTests(named.length > 0 ? named : tests)))
})
