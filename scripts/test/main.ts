import { SKIP_SLOW_TESTS_VARIABLE } from "../../test/support/wide.ts"
import { runScript } from "../cli/cli-error.ts"
import { runTests } from "./run-tests.ts"
import { formatSummary } from "./test-report.ts"
import { ensureSetUp } from "../setup/main.ts"
import { chromiumStep, fliteStep } from "../setup/test-tools.ts"
import { runOptionalSetupStep } from "../setup/step.ts"

/** Part of the names of test files that `npm run test:all` runs and `npm test` does not. */
const SLOW = ".slow."

await runScript(async () => {
  await ensureSetUp()
  await runOptionalSetupStep(fliteStep, "The tests that need speech are skipped.")
  await runOptionalSetupStep(chromiumStep, "The tests that need a browser are skipped.")
  const words = process.argv.slice(2)
  const named = words.filter((word) => word !== "--slow")
  const isSlow = named.length < words.length
  if (named.length === 0 && !isSlow) process.env[SKIP_SLOW_TESTS_VARIABLE] = "true"
  console.log(formatSummary(await runTests(named.length === 0 && isSlow ? [SLOW] : named)))
})
