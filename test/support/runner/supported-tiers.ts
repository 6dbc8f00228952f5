import { findSupportedTiers } from "../../../container/sandbox/tiers/choose-sandbox.ts"
import { usesNamespaces } from "../../../container/sandbox/tiers/tier.ts"
import type { SandboxTier } from "../../../container/sandbox/tiers/tier.ts"
import { makeTestRunnerSettings } from "./runner-settings.ts"

/**
 * Returns the tiers of the sandbox (its ways to isolate a tool) that this machine supports, the
 * strongest first.
 */
export async function listSupportedTiers(): Promise<SandboxTier[]> {
  return await findSupportedTiers(makeTestRunnerSettings())
}

/**
 * Returns the strongest supported tier that uses namespaces. Only such tiers allow warm sandboxes,
 * which are made before a task needs them. Returns undefined if there is none.
 */
export async function findTierWithNamespaces(): Promise<SandboxTier | undefined> {
  return (await listSupportedTiers()).find(usesNamespaces)
}
