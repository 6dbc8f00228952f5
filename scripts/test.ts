import { runScript } from "./local/cli-error.ts"
import { runTests } from "./local/run-tests.ts"
import { summaryLine } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"

await runScript(async () => {
  await ensureSetUp()
  console.log(summaryLine(await runTests(process.argv.slice(2))))
})
