import { getSettings } from "../../bindings/env.ts"
import { computeEffectiveLimits } from "../../bindings/plan-limits.ts"
import type { PageContext } from "../context.ts"

/** Returns the maximum size of a file in the account's plan, in bytes. */
export function readFileBytesMax(c: PageContext): number {
  return computeEffectiveLimits(c.get("signedIn").account, getSettings(c.env)).fileBytesMax
}
