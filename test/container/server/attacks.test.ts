import { expect, test } from "vitest"
import { z } from "zod"
import { EXPECTED_NETWORK_ATTACK_OUTCOMES } from "../../../container/sandbox/tiers/network-test.ts"
import {
  SANDBOX_ATTACK_NAMES,
  STARTUP_SANDBOX_ATTACK_NAMES,
} from "../../../container/sandbox/tiers/self-test.ts"
import { startHarness } from "../harness.ts"
import { listSupportedTiers } from "../../support/runner/supported-tiers.ts"

const TRACES = ["traces_outside", "traces_on_the_network"]
const attacks = z.array(z.object({ name: z.string(), refused: z.literal(true) }))
const health = z.object({
  sandbox: z.object({
    tier: z.string(),
    ok: z.literal(true),
    attacks,
    network_attacks: attacks,
    network_problem: z.null(),
  }),
})

test("health tries all attacks on request", async ({ skip }) => {
  skip((await listSupportedTiers()).length === 0, "this machine has no sandbox")
  const harness = await startHarness()
  async function ask(query: string) {
    const answer = await harness.call("GET", `/health${query}`)
    const { sandbox } = health.parse(await answer.json())
    return {
      ...sandbox,
      attacks: sandbox.attacks.map(({ name }) => name),
      network_attacks: sandbox.network_attacks.map(({ name }) => name),
    }
  }
  const before = await ask("")
  expect(before.attacks).toEqual([...STARTUP_SANDBOX_ATTACK_NAMES, ...TRACES])
  const tried = await Promise.all([ask("?attacks=all"), ask("?attacks=all")])
  for (const each of tried) {
    expect(each.tier).toBe(before.tier)
    expect(each.attacks).toEqual([...SANDBOX_ATTACK_NAMES, ...TRACES])
    expect(each.network_attacks).toEqual(Object.keys(EXPECTED_NETWORK_ATTACK_OUTCOMES))
  }
  await harness.close()
})
