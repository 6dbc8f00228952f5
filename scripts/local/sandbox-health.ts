import { setTimeout as sleep } from "node:timers/promises"
import { runnerHealth } from "../../src/contract/runner-health.ts"
import { CliError } from "./cli-error.ts"
import { askHealth } from "./health.ts"
import type { HealthEndpoint } from "./health.ts"
import { parseJson } from "./parse-json.ts"

const POLL_MS = 50

/**
 * Waits until the runner has a sandbox, and prints what that lacks. Throws a CliError at once where
 * its system has none, and where no self-test passes within `patienceMs`.
 */
export async function requireSandbox(
  endpoint: HealthEndpoint,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    const { body } = await askHealth(endpoint, signal)
    const { sandbox } = runnerHealth.parse(parseJson(body))
    if (sandbox.ok) {
      for (const lack of [sandbox.loss, sandbox.network_problem])
        if (lack !== null) console.log(lack)
      return
    }
    if (!sandbox.supported || performance.now() > until) {
      throw new CliError(
        `Lathe runs no tool without a sandbox, and none works: ${sandbox.problem}.`,
      )
    }
    await sleep(POLL_MS, undefined, { signal })
  }
}
