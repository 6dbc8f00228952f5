import { buildImage, describeImage } from "./image/docker.ts"
import { findEngine } from "./image/engine.ts"
import { runScript } from "./local/cli-error.ts"
import { runTests } from "./local/run-tests.ts"
import { summaryLine } from "./local/test-report.ts"
import { ensureSetUp } from "./setup.ts"
import { flite } from "./setup/flite.ts"
import { tryStep } from "./setup/step.ts"

const CONFIG = ["--config", "vitest.image.config.ts"]
const TESTS_MS_MAX = 900_000

await runScript(async () => {
  const found = await findEngine()
  if (typeof found === "string") {
    console.log(`The tests of the container image were skipped: ${found}.`)
    return
  }
  await using engine = found
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void engine[Symbol.asyncDispose]().then(() => process.exit(1)))
  }
  await ensureSetUp()
  await tryStep(flite, "The tests that need speech are skipped.")
  console.error("Building the image ...")
  await buildImage()
  console.error(await describeImage())
  const counts = await runTests([...CONFIG, ...process.argv.slice(2)], TESTS_MS_MAX)
  console.log(summaryLine(counts))
})
