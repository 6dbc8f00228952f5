import { findTiers } from "../../container/sandbox/choose.ts"
import { hasNamespaces } from "../../container/sandbox/tier.ts"
import type { Tier } from "../../container/sandbox/tier.ts"
import { runnerSettings } from "./runner-settings.ts"

/** The tiers of the sandbox that this machine supports, the strongest first. */
export async function supportedTiers(): Promise<Tier[]> {
  return await findTiers(runnerSettings())
}

/** The strongest of them in which sandboxes can wait, with namespaces; none: undefined. */
export async function tierWithNamespaces(): Promise<Tier | undefined> {
  return (await supportedTiers()).find(hasNamespaces)
}
