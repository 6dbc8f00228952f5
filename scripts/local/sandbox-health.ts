import { setTimeout as sleep } from "node:timers/promises"
import { runnerHeaders } from "../../src/contract/protocol.ts"
import { runnerHealth } from "../../src/contract/runner-health.ts"
import { CliError } from "./cli-error.ts"
import type { HealthEndpoint } from "./health.ts"

const POLL_MS = 200

/**
 * Waits until the runner has a sandbox, and prints what that lacks. Throws a CliError at once where
 * its system has none, and where no self-test passes within `patienceMs`.
 */
export async function requireSandbox(
  { url, token }: HealthEndpoint,
  patienceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    const answer = await fetch(url, { headers: runnerHeaders(token), signal })
    const { sandbox } = runnerHealth.parse(await answer.json())
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
