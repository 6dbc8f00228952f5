import { runScript } from "./local/cli-error.ts"
import { runTests } from "./local/run-tests.ts"
import { summaryLine } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"
import { chromium } from "./setup/chromium.ts"
import { flite } from "./setup/flite.ts"
import { tryStep } from "./setup/step.ts"

await runScript(async () => {
  await ensureSetUp()
  await tryStep(flite, "The tests that need speech are skipped.")
  await tryStep(chromium, "The tests that need a browser are skipped.")
  console.log(summaryLine(await runTests(process.argv.slice(2))))
})
