import { chooseSandbox, describeKernel } from "../../../container/sandbox/choose.ts"
import { testTier } from "../../../container/sandbox/test-tier.ts"
import { runnerSettings } from "../../support/runner-settings.ts"

// Chooses a sandbox as a runner does, with the work folder of the environment, and prints the choice and
// the test of it by all attacks.
const settings = runnerSettings({ WORK_DIR: process.env["WORK_DIR"], LOG_LEVEL: "error" })
const { sandbox, test } = await chooseSandbox(settings)
const all = sandbox && (await testTier(sandbox, settings, "all"))
console.log(JSON.stringify({ kernel: await describeKernel(settings), test, all }))
