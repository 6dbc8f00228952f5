import { afterEach, beforeEach, expect, vi } from "vitest"
import { startCloudflare } from "./cloudflare.ts"
import type { CloudflareStandIn } from "./cloudflare.ts"
import { makeMachine } from "./deployment.ts"
import type { Machine } from "./deployment.ts"

/**
 * Starts a stand-in for Cloudflare and makes a machine of its operator before each test of a file.
 */
export function useDeployment(begin: (cloudflare: CloudflareStandIn, machine: Machine) => void) {
  // Each deployment starts wrangler several times, and wide tests deploy many times in a row.
  vi.setConfig({ testTimeout: 900_000 })
  const opened: { cloudflare: CloudflareStandIn; machine: Machine }[] = []
  beforeEach(async () => {
    const cloudflare = await startCloudflare()
    const machine = makeMachine(cloudflare)
    opened.push({ cloudflare, machine })
    begin(cloudflare, machine)
  })
  afterEach(async () => {
    for (const { cloudflare, machine } of opened.splice(0)) {
      expect(cloudflare.unknown).toEqual([])
      machine.remove()
      await cloudflare.close()
    }
  })
}
