import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { release } from "node:os"
import { promisify } from "node:util"
import { z } from "zod"
import type { RunnerHealth } from "../../../src/contract/runner-health.ts"
import { log } from "../../log.ts"
import type { RunnerSettings } from "../../settings.ts"
import { findSystemPaths } from "../system-paths.ts"
import { LAUNCHER_PROGRAMS } from "../launcher-programs.ts"
import { namespaceProbeArgv } from "../sandbox.ts"
import type { Sandbox } from "../sandbox.ts"
import type { SandboxTier } from "./tier.ts"
import type { SandboxTestResult } from "./self-test.ts"
import { testSandboxTier } from "./test-tier.ts"

/**
 * Sandbox that was chosen for tools, and the result of its self-test. If no tier (way of isolation)
 * has passed, `sandbox` is null and `test` is the result of the last tier.
 */
export type SandboxChoice = { sandbox: Sandbox | null; test: SandboxTestResult }

const NO_BROKER =
  "Tools without a sandbox cannot have a network: nothing would restrict them to the addresses that " +
  "were checked."
const LOSS_OF_LANDLOCK =
  "Tools run without Landlock, which this kernel lacks or refuses: namespaces and mounts alone keep " +
  "them to their files, and they may execute files in the folders of libraries."
/**
 * Tiers of the sandbox, the strongest first. docs/operate/sandbox.md describes the protection by
 * each tier.
 */
export const SANDBOX_TIERS = ["namespaces", "mounts", "landlock"] as const
const NO_NETWORK = "The tools of this runner have no network."
const BUBBLEWRAP = "/usr/bin/bwrap"
const NO_TEST: Pick<SandboxTestResult, "tier" | "attacks" | "network_attacks" | "loss"> = {
  tier: "none",
  attacks: [],
  network_attacks: [],
  loss: null,
}

const failedRun = z.object({ stderr: z.string() })
const probeOutput = z.object({ landlock_abi: z.int(), seccomp: z.boolean() })

/**
 * Kernel features that a sandbox needs. `namespacesProblem` is the reason why namespaces cannot be
 * created; null if namespaces can be created.
 */
type KernelFeatures = z.infer<typeof probeOutput> & { namespacesProblem: string | null }

const run = promisify(execFile)

/**
 * Chooses the strongest sandbox tier that this system supports and that passes a short self-test.
 * Never throws. ALLOW_UNSANDBOXED has an effect only if the system supports no tier.
 */
export async function chooseSandbox(settings: RunnerSettings): Promise<SandboxChoice> {
  const features = await probeSystem(settings).catch(String)
  if (typeof features === "string") return refuse({ supported: true, problem: features })
  const startedMs = performance.now()
  const tests: SandboxTestResult[] = []
  for (const tier of tiersOf(features)) {
    const sandbox = createTierSandbox(tier, settings)
    const test = await testSandboxTier(sandbox, settings, "short")
    if (test.ok) {
      const loss = describeLoss(tier, features, tests)
      const { network_problem: networkProblem } = test
      const took = { took_ms: Math.round(performance.now() - startedMs) }
      log("info", "sandbox.chosen", { tier, ...took, loss, network_problem: networkProblem })
      return {
        sandbox: { ...sandbox, networkProblem: networkProblem ?? sandbox.networkProblem },
        test: { ...test, loss },
      }
    }
    tests.push(test)
  }
  for (const { tier, problem } of tests) log("warn", "sandbox.refused", { tier, problem })
  const last = tests.at(-1)
  if (last) return { sandbox: null, test: last }
  if (settings.allowUnsandboxed) return chooseNone(settings)
  return refuse({ supported: false, problem: describeLack(features) })
}

function describeLack({ landlock_abi, seccomp, namespacesProblem }: KernelFeatures): string {
  const lacks = [
    ...(seccomp ? [] : ["no seccomp"]),
    ...(landlock_abi >= 1 ? [] : ["no Landlock"]),
    ...(namespacesProblem === null ? [] : [`no namespaces (${namespacesProblem})`]),
  ]
  return `this system has ${lacks.join(", ")}; a sandbox needs seccomp, and Landlock or namespaces`
}

/**
 * Returns a sentence that describes the protection that a stronger tier would add, and the reason
 * why the stronger tier is not used. Returns null for the strongest tier.
 */
function describeLoss(
  tier: SandboxTier,
  offers: KernelFeatures,
  refused: readonly SandboxTestResult[],
): string | null {
  if (tier === "namespaces") return null
  if (tier === "mounts") return LOSS_OF_LANDLOCK
  const tried = refused.find((test) => test.tier === "namespaces")
  const reason = offers.namespacesProblem ?? tried?.problem ?? "their test failed"
  return (
    `Tools run without namespaces of their own (${reason}): they can find out which files and ` +
    "processes this machine has, but open, change and signal none of them."
  )
}

function findProblemOfNetwork(tier: SandboxTier, { hasNetwork }: RunnerSettings): string | null {
  if (tier === "none") return NO_BROKER
  return hasNetwork ? null : NO_NETWORK
}

/**
 * Returns the kernel features that a sandbox needs, in the form in which `GET /health` of the
 * runner reports them; null if the probe of the kernel fails.
 */
export async function probeKernelFeatures(
  settings: RunnerSettings,
): Promise<RunnerHealth["kernel"]> {
  const offered = await probeSystem(settings).catch(() => null)
  if (offered === null) return null
  const { namespacesProblem, ...kernel } = offered
  const namespaces = namespacesProblem === null
  return { release: release(), bubblewrap: existsSync(BUBBLEWRAP), namespaces, ...kernel }
}

/**
 * Returns the sandbox tiers that this system supports, the strongest first. Throws if the probe of
 * the kernel fails.
 */
export async function findSupportedTiers(settings: RunnerSettings): Promise<SandboxTier[]> {
  return tiersOf(await probeSystem(settings))
}

function tiersOf({ landlock_abi, seccomp, namespacesProblem }: KernelFeatures): SandboxTier[] {
  if (!seccomp) return []
  const hasLandlock = landlock_abi >= 1
  const isOffered: Record<Exclude<SandboxTier, "none">, boolean> = {
    namespaces: hasLandlock && namespacesProblem === null,
    mounts: namespacesProblem === null,
    landlock: hasLandlock,
  }
  return SANDBOX_TIERS.filter((tier) => isOffered[tier])
}

/** Creates the sandbox of a tier from the settings. The returned sandbox is not tested yet. */
export function createTierSandbox(tier: SandboxTier, settings: RunnerSettings): Sandbox {
  return {
    tier,
    launcherPath: LAUNCHER_PROGRAMS.launcher,
    holdPath: LAUNCHER_PROGRAMS.hold,
    bubblewrapPath: BUBBLEWRAP,
    paths: findSystemPaths(settings.sandboxReadPaths),
    limits: settings.limits,
    networkProblem: findProblemOfNetwork(tier, settings),
    firstUid: tier !== "none" && process.getuid?.() === 0 ? settings.sandboxFirstUid : null,
  }
}

async function probeSystem(settings: RunnerSettings): Promise<KernelFeatures> {
  if (!existsSync(LAUNCHER_PROGRAMS.launcher)) {
    const namespacesProblem = "the launcher was not built, or cannot be built for this system"
    return { landlock_abi: 0, seccomp: false, namespacesProblem }
  }
  const [{ stdout }, namespacesProblem] = await Promise.all([
    run(LAUNCHER_PROGRAMS.launcher, ["--probe"]),
    findNamespacesProblem(settings),
  ])
  return { ...probeOutput.parse(JSON.parse(stdout)), namespacesProblem }
}

/**
 * Returns the reason why bubblewrap cannot create namespaces; null if bubblewrap can. Starts
 * bubblewrap for the test, since a system may allow only bubblewrap to create namespaces.
 */
async function findNamespacesProblem(settings: RunnerSettings): Promise<string | null> {
  if (!existsSync(BUBBLEWRAP)) return "bubblewrap is not installed"
  try {
    const [program, ...argv] = namespaceProbeArgv(createTierSandbox("namespaces", settings))
    await run(program, argv, { env: {} })
    return null
  } catch (error) {
    const { stderr } = failedRun.safeParse(error).data ?? { stderr: "" }
    return /^(?:bwrap|launcher): .*$/m.exec(stderr)?.[0] ?? String(error)
  }
}

function chooseNone(settings: RunnerSettings): SandboxChoice {
  const meaning =
    "ALLOW_UNSANDBOXED is set and this system has no sandbox: every sender of a command or a file " +
    "can read, change and send every file that the user of this process can."
  log("warn", "sandbox.none", { meaning })
  const sandbox = createTierSandbox("none", settings)
  const test = { ok: true, supported: false, problem: null, network_problem: NO_BROKER }
  return { sandbox, test: { ...NO_TEST, ...test } }
}

function refuse(why: { supported: boolean; problem: string }): SandboxChoice {
  log("warn", "sandbox.refused", { tier: "none", ...why })
  return { sandbox: null, test: { ...NO_TEST, ok: false, network_problem: null, ...why } }
}
