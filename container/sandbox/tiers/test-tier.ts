import type { RunnerSettings } from "../../settings.ts"
import { STARTUP_NETWORK_ATTACKS, testNetworkIsolation } from "./network-test.ts"
import type { NetworkTestResult } from "./network-test.ts"
import { findProgram } from "../system-paths.ts"
import { prepareSandboxAttackPrograms } from "./attack-programs.ts"
import type { Sandbox } from "../sandbox.ts"
import { SANDBOX_ATTACK_NAMES, STARTUP_SANDBOX_ATTACK_NAMES, testSandbox } from "./self-test.ts"
import type { SandboxTestResult } from "./self-test.ts"

const NO_NETWORK_TEST: NetworkTestResult = { attacks: [], problem: null }

/**
 * Extent of a sandbox self-test. `short`: only the attacks that are tested at each start of a
 * runner. `all`: all attacks.
 */
export type SandboxTestExtent = "short" | "all"

/**
 * Tests one tier of the sandbox with the attack programs and an encode by ffmpeg. Never throws.
 * Omits the network attack if the settings give tools no network.
 */
export async function testSandboxTier(
  sandbox: Sandbox,
  settings: RunnerSettings,
  extent: SandboxTestExtent,
): Promise<SandboxTestResult> {
  try {
    await using programs = await prepareSandboxAttackPrograms(sandbox)
    const isAll = extent === "all"
    const [test, network] = await Promise.all([
      testSandbox(sandbox, {
        attackPath: programs.attack,
        attacks: isAll ? SANDBOX_ATTACK_NAMES : STARTUP_SANDBOX_ATTACK_NAMES,
        ffmpegPath: findProgram(settings.toolPaths.ffmpeg),
        workDir: settings.workDir,
      }),
      sandbox.networkProblem === null
        ? testNetworkIsolation(
            sandbox,
            programs.networkAttack,
            isAll ? undefined : STARTUP_NETWORK_ATTACKS,
          )
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
