import { runScript } from "./local/cli-error.ts"
import { runWideTests } from "./local/run-wide-tests.ts"
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
  await runWideTests(TESTS_OF_THE_WEB)
})
