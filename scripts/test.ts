import { runScript } from "./local/cli-error.ts"
import { runTests } from "./local/run-tests.ts"
import { summaryLine } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"
import { chromium } from "./setup/chromium.ts"
import { flite } from "./setup/flite.ts"
import { tryStep } from "./setup/step.ts"

/** In the names of files whose tests `npm run test:all` runs, and `npm test` does not. */
const SLOW = ".slow."

/** Tests that vitest is to find: those named, else all slow ones, else all others. */
function chosenTests(isSlow: boolean, named: string[]): string[] {
  if (named.length > 0) return named
  return isSlow ? [SLOW] : ["--exclude", `**/*${SLOW}*`]
}

await runScript(async () => {
  await ensureSetUp()
  await tryStep(flite, "The tests that need speech are skipped.")
  await tryStep(chromium, "The tests that need a browser are skipped.")
  const words = process.argv.slice(2)
  const named = words.filter((word) => word !== "--slow")
  const isSlow = named.length < words.length
  console.log(summaryLine(await runTests(chosenTests(isSlow, named))))
})
