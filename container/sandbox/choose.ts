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
import { probeArgv } from "./sandbox.ts"
import type { Sandbox } from "./sandbox.ts"
import type { Tier } from "./tier.ts"
import type { SelfTest } from "./self-test.ts"
import { testTier } from "./test-tier.ts"

/** The sandbox that tools run in, null where none passed its self-test, and the last self-test. */
export type SandboxChoice = { sandbox: Sandbox | null; test: SelfTest }

const NO_BROKER =
  "Tools without a sandbox can be given no network: nothing would keep them to the addresses that " +
  "were checked."
const LOSS_OF_LANDLOCK =
  "Tools run without Landlock, which this kernel lacks or refuses: namespaces and mounts alone keep " +
  "them to their files, and they may execute what is in the folders of libraries."
/** The strongest first: docs/operate/sandbox.md has what each one holds. */
export const TIERS = ["namespaces", "mounts", "landlock"] as const
const NO_NETWORK = "The tools of this runner are given no network."
const BUBBLEWRAP = "/usr/bin/bwrap"
const NO_TEST: Pick<SelfTest, "tier" | "attacks" | "network_attacks" | "loss"> = {
  tier: "none",
  attacks: [],
  network_attacks: [],
  loss: null,
}

const failedRun = z.object({ stderr: z.string() })
const probeOutput = z.object({ landlock_abi: z.int(), seccomp: z.boolean() })

/** What the kernel offers, and why no namespaces can be made; null where they can. */
type Offers = z.infer<typeof probeOutput> & { namespacesProblem: string | null }

const run = promisify(execFile)

/**
 * Takes the strongest tier that this system supports, after a short test; the next one only where that
 * one fails. Never throws. Where a tier is supported and none passes, ALLOW_UNSANDBOXED does not apply.
 */
export async function chooseSandbox(settings: RunnerSettings): Promise<SandboxChoice> {
  const offers = await probeSystem(settings).catch(String)
  if (typeof offers === "string") return refuse({ supported: true, problem: offers })
  const startedMs = performance.now()
  const tests: SelfTest[] = []
  for (const tier of tiersOf(offers)) {
    const sandbox = describeSandbox(tier, settings)
    const test = await testTier(sandbox, settings, "short")
    if (test.ok) {
      const loss = describeLoss(tier, offers, tests)
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
  return refuse({ supported: false, problem: describeLack(offers) })
}

function describeLack({ landlock_abi, seccomp, namespacesProblem }: Offers): string {
  const lacks = [
    ...(seccomp ? [] : ["no seccomp"]),
    ...(landlock_abi >= 1 ? [] : ["no Landlock"]),
    ...(namespacesProblem === null ? [] : [`no namespaces (${namespacesProblem})`]),
  ]
  return `this system has ${lacks.join(", ")}; a sandbox needs seccomp, and Landlock or namespaces`
}

/** What a tool may do in this tier that namespaces would prevent, and why they are not used. */
function describeLoss(tier: Tier, offers: Offers, refused: readonly SelfTest[]): string | null {
  if (tier === "namespaces") return null
  if (tier === "mounts") return LOSS_OF_LANDLOCK
  const tried = refused.find((test) => test.tier === "namespaces")
  const reason = offers.namespacesProblem ?? tried?.problem ?? "their test failed"
  return (
    `Tools run without namespaces of their own (${reason}): they can find out which files and ` +
    "processes this machine has, but open, change and signal none of them."
  )
}

function findProblemOfNetwork(tier: Tier, { hasNetwork }: RunnerSettings): string | null {
  if (tier === "none") return NO_BROKER
  return hasNetwork ? null : NO_NETWORK
}

/** What the kernel offers to a sandbox, in the form of a runner's health; null where that cannot be told. */
export async function describeKernel(settings: RunnerSettings): Promise<RunnerHealth["kernel"]> {
  const offered = await probeSystem(settings).catch(() => null)
  if (offered === null) return null
  const { namespacesProblem, ...kernel } = offered
  const namespaces = namespacesProblem === null
  return { release: release(), bubblewrap: existsSync(BUBBLEWRAP), namespaces, ...kernel }
}

/** The tiers that this system supports, the strongest first; throws where that cannot be told. */
export async function findTiers(settings: RunnerSettings): Promise<Tier[]> {
  return tiersOf(await probeSystem(settings))
}

function tiersOf({ landlock_abi, seccomp, namespacesProblem }: Offers): Tier[] {
  if (!seccomp) return []
  const hasLandlock = landlock_abi >= 1
  const isOffered: Record<Exclude<Tier, "none">, boolean> = {
    namespaces: hasLandlock && namespacesProblem === null,
    mounts: namespacesProblem === null,
    landlock: hasLandlock,
  }
  return TIERS.filter((tier) => isOffered[tier])
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
    networkProblem: findProblemOfNetwork(tier, settings),
    firstUid: tier !== "none" && process.getuid?.() === 0 ? settings.sandboxFirstUid : null,
  }
}

async function probeSystem(settings: RunnerSettings): Promise<Offers> {
  if (!existsSync(PROGRAMS.launcher)) {
    const namespacesProblem = "the launcher was not built, or cannot be built for this system"
    return { landlock_abi: 0, seccomp: false, namespacesProblem }
  }
  const [{ stdout }, namespacesProblem] = await Promise.all([
    run(PROGRAMS.launcher, ["--probe"]),
    findNamespacesProblem(settings),
  ])
  return { ...probeOutput.parse(JSON.parse(stdout)), namespacesProblem }
}

/** Tries what each tool does first: bubblewrap alone may have the right to make namespaces, by its name. */
async function findNamespacesProblem(settings: RunnerSettings): Promise<string | null> {
  if (!existsSync(BUBBLEWRAP)) return "bubblewrap is not installed"
  try {
    const [program, ...argv] = probeArgv(describeSandbox("namespaces", settings))
    await run(program, argv, { env: {} })
    return null
  } catch (error) {
    const { stderr } = failedRun.safeParse(error).data ?? { stderr: "" }
    return /^(?:bwrap|launcher): .*$/m.exec(stderr)?.[0] ?? String(error)
  }
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
