import { describe } from "vitest"
import { testRunnerProtocol } from "../../suites/runner-protocol.ts"
import type { RunnerUnderTest } from "../../suites/runner-protocol.ts"
import { ENDLESS, startHarness } from "../harness.ts"

const TOKEN = "a-token-of-this-start-of-the-runner"

async function openRunner(): Promise<RunnerUnderTest> {
  const harness = await startHarness({ token: TOKEN, capacity: 2 })
  return {
    fetch: (path, init) => fetch(harness.runnerOrigin + path, init),
    token: TOKEN,
    boot: harness.settings.boot,
    order: (differing) => harness.order([ENDLESS], differing),
    close: () => harness.close(),
  }
}

describe("the plain runner over HTTP", () => {
  testRunnerProtocol(openRunner)
})
