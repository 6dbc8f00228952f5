import { QUICK } from "../test/support/wide.ts"
import { runScript } from "./local/cli-error.ts"
import { runTests } from "./local/run-tests.ts"
import { summaryLine } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"
import { chromium } from "./setup/chromium.ts"
import { flite } from "./setup/flite.ts"
import { tryStep } from "./setup/step.ts"

/** In the names of files whose tests `npm run test:all` runs, and `npm test` does not. */
const SLOW = ".slow."

await runScript(async () => {
  await ensureSetUp()
  await tryStep(flite, "The tests that need speech are skipped.")
  await tryStep(chromium, "The tests that need a browser are skipped.")
  const words = process.argv.slice(2)
  const named = words.filter((word) => word !== "--slow")
  const isSlow = named.length < words.length
  if (named.length === 0 && !isSlow) process.env[QUICK] = "true"
  console.log(summaryLine(await runTests(named.length === 0 && isSlow ? [SLOW] : named)))
})
