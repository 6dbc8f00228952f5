import { WIDE } from "../test/support/wide.ts"
import { runScript } from "./local/cli-error.ts"
import { runTests } from "./local/run-tests.ts"
import { summaryLine } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"

/** What of the tests is about media from the web. */
const TESTS_OF_THE_WEB = [
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
]

await runScript(async () => {
  await ensureSetUp()
  process.env[WIDE] = "true"
  const named = process.argv.slice(2)
  console.log(summaryLine(await runTests(named.length > 0 ? named : TESTS_OF_THE_WEB)))
})
