import { runScript } from "./local/cli-error.ts"
import { runWideTests } from "./local/run-wide-tests.ts"
import { ensureSetUp } from "./setup.ts"

await runScript(async () => {
  await ensureSetUp()
  await runWideTests(["test/kinds/command/"])
})
