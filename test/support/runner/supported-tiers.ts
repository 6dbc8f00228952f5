import { findSupportedTiers } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { usesNamespaces } from "../../../container/sandbox/tiers/tier.ts"
import type { SandboxTier } from "../../../container/sandbox/tiers/tier.ts"
import { makeTestRunnerSettings } from "./runner-settings.ts"

/** Returns the tiers of the sandbox that this machine supports, the strongest first. */
export async function listSupportedTiers(): Promise<SandboxTier[]> {
  return await findSupportedTiers(makeTestRunnerSettings())
}

/**
 * Returns the strongest supported tier with namespaces, which allows warm sandboxes. Returns
 * undefined if there is none.
 */
export async function findTierWithNamespaces(): Promise<SandboxTier | undefined> {
  return (await listSupportedTiers()).find(usesNamespaces)
}
