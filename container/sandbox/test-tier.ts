import type { RunnerSettings } from "../settings.ts"
import { SHORT_NETWORK_ATTACKS, testNetwork } from "./network-test.ts"
import type { NetworkTest } from "./network-test.ts"
import { findProgram } from "./paths.ts"
import { placeAttacks } from "./place-attacks.ts"
import type { Sandbox } from "./sandbox.ts"
import { ATTACK_NAMES, SHORT_ATTACK_NAMES, testSandbox } from "./self-test.ts"
import type { SelfTest } from "./self-test.ts"

const NO_NETWORK_TEST: NetworkTest = { attacks: [], problem: null }

/** How much a test of a tier tries: `short` at each start of a runner, `all` on request. */
export type Extent = "short" | "all"

/**
 * Tests one tier by the attack programs and an encode; never throws. Where no tool is given a network,
 * there is no attack with one.
 */
export async function testTier(
  sandbox: Sandbox,
  settings: RunnerSettings,
  extent: Extent,
): Promise<SelfTest> {
  try {
    await using placed = await placeAttacks(sandbox)
    const isAll = extent === "all"
    const [test, network] = await Promise.all([
      testSandbox(sandbox, {
        attackPath: placed.attack,
        attacks: isAll ? ATTACK_NAMES : SHORT_ATTACK_NAMES,
        ffmpegPath: findProgram(settings.toolPaths.ffmpeg),
        workDir: settings.workDir,
      }),
      sandbox.networkProblem === null
        ? testNetwork(sandbox, placed.networkAttack, isAll ? undefined : SHORT_NETWORK_ATTACKS)
        : NO_NETWORK_TEST,
    ])
    const { attacks: networkAttacks, problem: networkProblem } = network
    return { ...test, loss: null, network_attacks: networkAttacks, network_problem: networkProblem }
  } catch (error) {
    const failed = { ok: false, supported: true, problem: String(error), loss: null }
    const none = { attacks: [], network_attacks: [], network_problem: null }
    return { tier: sandbox.tier, ...failed, ...none }
  }
}
