import { buildImage, describeImageSize } from "../image/docker.ts"
import { findDockerEngine } from "../image/engine.ts"
import { runScript } from "../cli/cli-error.ts"
import { runTests } from "./run-tests.ts"
import { formatSummary } from "./test-report.ts"
import { ensureSetUp } from "../setup/main.ts"
import { fliteStep } from "../setup/test-tools.ts"
import { runOptionalSetupStep } from "../setup/step.ts"

const CONFIG = ["--config", "vitest.image.config.ts"]
const TESTS_MS_MAX = 900_000

await runScript(async () => {
  const found = await findDockerEngine()
  if (typeof found === "string") {
    console.log(`The tests of the container image were skipped: ${found}.`)
    return
  }
  await using engine = found
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void engine[Symbol.asyncDispose]().then(() => process.exit(1)))
  }
  await ensureSetUp()
  await runOptionalSetupStep(fliteStep, "The tests that need speech are skipped.")
  console.error("Building the image ...")
  await buildImage()
  console.error(await describeImageSize())
  const counts = await runTests([...CONFIG, ...process.argv.slice(2)], TESTS_MS_MAX)
  console.log(formatSummary(counts))
})
