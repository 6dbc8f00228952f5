import {
  chooseSandbox,
  probeKernelFeatures,
} from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { testSandboxTier } from "../../../container/sandbox/tiers/test-tier.ts"
import { makeTestRunnerSettings } from "../../support/runner/runner-settings.ts"

// Chooses a sandbox as a runner does, with WORK_DIR from the environment. Prints the choice and the
// result of all attacks.
const settings = makeTestRunnerSettings({ WORK_DIR: process.env["WORK_DIR"], LOG_LEVEL: "error" })
const { sandbox, test } = await chooseSandbox(settings)
const all = sandbox && (await testSandboxTier(sandbox, settings, "all"))
console.log(JSON.stringify({ kernel: await probeKernelFeatures(settings), test, all }))
