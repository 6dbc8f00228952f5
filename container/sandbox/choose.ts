import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { release } from "node:os"
import { promisify } from "node:util"
import { z } from "zod"
import type { RunnerHealth } from "../../src/contract/runner-health.ts"
import { log } from "../log.ts"
import type { RunnerSettings } from "../settings.ts"
import { readSystemPaths } from "./paths.ts"
import { PROGRAMS } from "./programs.ts"
import type { Sandbox } from "./sandbox.ts"
import type { Tier } from "./tier.ts"
import type { SelfTest } from "./self-test.ts"
import { testTier } from "./test-tier.ts"

/** The sandbox that tools run in, null where none passed its self-test, and the last self-test. */
export type SandboxChoice = { sandbox: Sandbox | null; test: SelfTest }

const NO_BROKER =
  "Tools without a sandbox can be given no network: nothing would keep them to the addresses that " +
  "were checked."
const BUBBLEWRAP = "/usr/bin/bwrap"
const NO_TEST: Pick<SelfTest, "tier" | "attacks" | "network_attacks" | "loss"> = {
  tier: "none",
  attacks: [],
  network_attacks: [],
  loss: null,
}

const probeOutput = z.object({ landlock_abi: z.int(), seccomp: z.boolean() })

/**
 * Tests the tiers that this system supports, the strongest first, and takes the first that passes;
 * never throws. Where a tier is supported and none passes, ALLOW_UNSANDBOXED does not apply.
 */
export async function chooseSandbox(settings: RunnerSettings): Promise<SandboxChoice> {
  const tiers = await findTiers().catch(String)
  if (typeof tiers === "string") return refuse({ supported: true, problem: tiers })
  const startedMs = performance.now()
  const tests: SelfTest[] = []
  for (const tier of tiers) {
    const sandbox = describeSandbox(tier, settings)
    const test = await testTier(sandbox, settings, "short")
    if (test.ok) {
      const loss = describeLoss(tier, tests)
      const { network_problem: networkProblem } = test
      const took = { took_ms: Math.round(performance.now() - startedMs) }
      log("info", "sandbox.chosen", { tier, ...took, loss, network_problem: networkProblem })
      return { sandbox: { ...sandbox, networkProblem }, test: { ...test, loss } }
    }
    tests.push(test)
  }
  for (const { tier, problem } of tests) log("warn", "sandbox.refused", { tier, problem })
  const last = tests.at(-1)
  if (last) return { sandbox: null, test: last }
  if (settings.allowUnsandboxed) return chooseNone(settings)
  const problem = "this system has neither the launcher nor what it needs (Linux with Landlock)"
  return refuse({ supported: false, problem })
}

/** What a tool may do in this tier that namespaces would prevent, and why they are not used. */
function describeLoss(tier: Tier, refused: readonly SelfTest[]): string | null {
  if (tier === "namespaces") return null
  const tried = refused.find((test) => test.tier === "namespaces")
  const reason = tried ? (tried.problem ?? "their test failed") : "bubblewrap is not installed"
  return (
    `Tools run without namespaces of their own (${reason}): they can find out which files and ` +
    "processes this machine has, but open, change and signal none of them."
  )
}

/** What the kernel offers to a sandbox, in the form of a runner's health; null where that cannot be told. */
export async function describeKernel(): Promise<RunnerHealth["kernel"]> {
  const offered = await probeKernel().catch(() => null)
  return offered && { release: release(), bubblewrap: existsSync(BUBBLEWRAP), ...offered }
}

/** The tiers that this system supports, the strongest first; throws where that cannot be told. */
export async function findTiers(): Promise<Tier[]> {
  const { landlock_abi, seccomp } = await probeKernel()
  if (landlock_abi < 1 || !seccomp) return []
  return existsSync(BUBBLEWRAP) ? ["namespaces", "landlock"] : ["landlock"]
}

/** The sandbox of a tier according to the settings, not yet tested. */
export function describeSandbox(tier: Tier, settings: RunnerSettings): Sandbox {
  return {
    tier,
    launcherPath: PROGRAMS.launcher,
    holdPath: PROGRAMS.hold,
    bubblewrapPath: BUBBLEWRAP,
    paths: readSystemPaths(settings.sandboxReadPaths),
    limits: settings.limits,
    networkProblem: tier === "none" ? NO_BROKER : null,
    firstUid: tier !== "none" && process.getuid?.() === 0 ? settings.sandboxFirstUid : null,
  }
}

async function probeKernel(): Promise<z.infer<typeof probeOutput>> {
  // It was not built, or cannot be built for this system.
  if (!existsSync(PROGRAMS.launcher)) return { landlock_abi: 0, seccomp: false }
  const { stdout } = await promisify(execFile)(PROGRAMS.launcher, ["--probe"])
  return probeOutput.parse(JSON.parse(stdout))
}

function chooseNone(settings: RunnerSettings): SandboxChoice {
  const meaning =
    "ALLOW_UNSANDBOXED is set and this system has no sandbox: whoever sends a command or a file " +
    "can read, change and send away whatever the user of this process can."
  log("warn", "sandbox.none", { meaning })
  const sandbox = describeSandbox("none", settings)
  const test = { ok: true, supported: false, problem: null, network_problem: NO_BROKER }
  return { sandbox, test: { ...NO_TEST, ...test } }
}

function refuse(why: { supported: boolean; problem: string }): SandboxChoice {
  log("warn", "sandbox.refused", { tier: "none", ...why })
  return { sandbox: null, test: { ...NO_TEST, ok: false, network_problem: null, ...why } }
}
