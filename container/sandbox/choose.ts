import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { z } from "zod"
import type { RunnerSettings } from "../environment.ts"
import { log } from "../log.ts"
import { findProgram, isOpenToAll, readSystemPaths } from "./paths.ts"
import type { Sandbox, Tier } from "./sandbox.ts"
import { testSandbox } from "./self-test.ts"
import type { SelfTest } from "./self-test.ts"

/** The sandbox that tools run in, null where none is good enough, and how it was found out. */
export type Verdict = { sandbox: Sandbox | null; test: SelfTest }

const BUILD_FOLDER = join(import.meta.dirname, "../launcher/build")
const READABLE = 0o755
const BUBBLEWRAP = "/usr/bin/bwrap"

const offers = z.object({ landlock_abi: z.int(), seccomp: z.boolean() })

/**
 * Tries the tiers that this system offers, the strongest first, and takes the first that stands its
 * self-test. Where a tier is offered and none stands, there is no way around.
 */
export async function chooseSandbox(settings: RunnerSettings): Promise<Verdict> {
  const offered = await findTiers()
  const beganMs = performance.now()
  const tests: SelfTest[] = []
  for (const tier of offered) {
    const sandbox = describeSandbox(tier, settings)
    const test = await testTier(sandbox, settings)
    if (test.ok) {
      log("sandbox.chosen", { tier, took_ms: Math.round(performance.now() - beganMs) })
      return { sandbox, test }
    }
    log("sandbox.refused", { tier, problem: test.problem })
    tests.push(test)
  }
  const last = tests.at(-1)
  if (last) return { sandbox: null, test: last }
  return settings.allowUnsandboxed ? goWithout(settings) : refuse()
}

/** The tiers that this system has the means for, the strongest first. */
export async function findTiers(): Promise<Tier[]> {
  const { landlock_abi, seccomp } = await readOffers()
  if (landlock_abi < 1 || !seccomp) return []
  return existsSync(BUBBLEWRAP) ? ["namespaces", "landlock"] : ["landlock"]
}

/** The sandbox of a tier by the settings; nothing is tried yet. */
export function describeSandbox(tier: Tier, settings: RunnerSettings): Sandbox {
  return {
    tier,
    launcherPath: join(BUILD_FOLDER, "launcher"),
    bubblewrapPath: BUBBLEWRAP,
    paths: readSystemPaths(settings.sandboxReadPaths),
    limits: settings.limits,
    firstUid: tier !== "none" && process.getuid?.() === 0 ? settings.sandboxFirstUid : null,
  }
}

async function readOffers(): Promise<z.infer<typeof offers>> {
  try {
    const { stdout } = await promisify(execFile)(join(BUILD_FOLDER, "launcher"), ["--probe"])
    return offers.parse(JSON.parse(stdout))
  } catch {
    // It was not built, or this is a system that it cannot be built for.
    return { landlock_abi: 0, seccomp: false }
  }
}

async function testTier(sandbox: Sandbox, settings: RunnerSettings): Promise<SelfTest> {
  const attack = await placeAttack(sandbox)
  try {
    return await testSandbox(sandbox, {
      attackPath: attack.path,
      ffmpegPath: findProgram(settings.ffmpegPath),
      workDir: settings.workDir,
    })
  } catch (error) {
    return { tier: sandbox.tier, ok: false, attacks: [], problem: String(error) }
  } finally {
    await attack.remove()
  }
}

/**
 * Another user than ours may not reach the folder of this code, as it reaches those of real tools,
 * so it gets a copy; ours does not need one, which a temporary folder may not let it run.
 */
async function placeAttack({ firstUid }: Sandbox) {
  const built = join(BUILD_FOLDER, "attack")
  if (firstUid === null || isOpenToAll(built)) {
    return { path: built, remove: () => Promise.resolve() }
  }
  const place = [tmpdir(), "/tmp", "/var/tmp"].find((path) => isOpenToAll(path)) ?? tmpdir()
  const folder = await mkdtemp(join(place, "lathe-attack-"))
  const path = join(folder, "attack")
  await chmod(folder, READABLE)
  await copyFile(built, path)
  await chmod(path, READABLE)
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}

function goWithout(settings: RunnerSettings): Verdict {
  const meaning =
    "ALLOW_UNSANDBOXED is set and this system has no sandbox: whoever sends a command or a file " +
    "can read, change and send away whatever the user of this process can."
  log("sandbox.none", { meaning })
  const sandbox = describeSandbox("none", settings)
  return { sandbox, test: { tier: "none", ok: true, attacks: [], problem: null } }
}

function refuse(): Verdict {
  const problem = "this system has neither the launcher nor what it needs (Linux with Landlock)"
  log("sandbox.refused", { tier: "none", problem })
  return { sandbox: null, test: { tier: "none", ok: false, attacks: [], problem } }
}
