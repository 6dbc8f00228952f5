import { findSupportedTiers } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { usesNamespaces } from "../../../container/sandbox/tiers/tier.ts"
import type { SandboxTier } from "../../../container/sandbox/tiers/tier.ts"
import { runnerSettings } from "./runner-settings.ts"

/** The tiers of the sandbox that this machine supports, the strongest first. */
export async function supportedTiers(): Promise<SandboxTier[]> {
  return await findSupportedTiers(runnerSettings())
}

/** The strongest of them in which sandboxes can wait, with namespaces; none: undefined. */
export async function tierWithNamespaces(): Promise<SandboxTier | undefined> {
  return (await supportedTiers()).find(usesNamespaces)
}
