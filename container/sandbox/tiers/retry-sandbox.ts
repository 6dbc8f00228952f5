import pRetry from "p-retry"
import { log } from "../../log.ts"
import type { RunnerSettings } from "../../settings.ts"
import { chooseSandbox } from "./choose-sandbox.ts"
import type { SandboxChoice } from "./choose-sandbox.ts"

const DELAYS = { factor: 2, minTimeout: 1000, maxTimeout: 60_000, unref: true }

/**
 * Function that returns the latest choice of a sandbox. Waits until the first self-test has ended.
 */
export type SandboxChoiceGetter = () => Promise<SandboxChoice>

/**
 * Chooses the sandbox, and retries with backoff while no tier passes its self-test. A failure may
 * be temporary, for example because of a full disk or a lack of memory. Calls `onGivenUp` after
 * `settings.selfTestsMax` failures.
 */
export function chooseSandboxWithRetries(
  settings: RunnerSettings,
  onGivenUp: () => void,
): SandboxChoiceGetter {
  const first = Promise.withResolvers<SandboxChoice>()
  let latest = first.promise
  async function choose(): Promise<void> {
    const choice = await chooseSandbox(settings)
    first.resolve(choice)
    latest = Promise.resolve(choice)
    if (!choice.sandbox) throw new Error(choice.test.problem ?? "no sandbox")
  }
  pRetry(choose, { ...DELAYS, retries: settings.selfTestsMax - 1 }).catch((error: unknown) => {
    log("error", "sandbox.given_up", { self_tests: settings.selfTestsMax, error: String(error) })
    onGivenUp()
  })
  return async () => await latest
}
