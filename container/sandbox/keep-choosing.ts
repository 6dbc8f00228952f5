import pRetry from "p-retry"
import { log } from "../log.ts"
import type { RunnerSettings } from "../settings.ts"
import { chooseSandbox } from "./choose.ts"
import type { SandboxChoice } from "./choose.ts"

const DELAYS = { factor: 2, minTimeout: 1000, maxTimeout: 60_000, unref: true }

/** The newest choice of a sandbox; waits for the first self-test only. */
export type LatestChoice = () => Promise<SandboxChoice>

/**
 * Chooses the sandbox and, while none passes its self-test, tries again with growing waits: what
 * stood against it (a full disk, no memory, too many processes) may be over. After
 * `settings.selfTestsMax` it calls `onGivenUp` instead.
 */
export function keepChoosingSandbox(settings: RunnerSettings, onGivenUp: () => void): LatestChoice {
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
