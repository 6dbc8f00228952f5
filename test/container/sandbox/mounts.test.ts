import { execFile } from "node:child_process"
import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { z } from "zod"
import { EXPECTED_NETWORK_ATTACK_OUTCOMES } from "../../../container/sandbox/tiers/network-test.ts"
import { LAUNCHER_PROGRAMS } from "../../../container/sandbox/launcher-programs.ts"
import { SANDBOX_ATTACK_NAMES } from "../../../container/sandbox/tiers/self-test.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { buildKernelFeatureHider } from "../../support/runner/hide.ts"
import { listSupportedTiers } from "../../support/runner/supported-tiers.ts"
import { VARIANTS, openSandboxLab } from "./lab.ts"

const SCRIPT = join(import.meta.dirname, "choose-program.ts")

/**
 * Source of a tool that tries to create a file in each folder, and prints the folders where it
 * succeeded.
 */
const SPREADER = `
  #define _GNU_SOURCE
  #include <fcntl.h>
  #include <ftw.h>
  #include <stdio.h>
  #include <unistd.h>
  static int seen;
  static int spread(const char *path, const struct stat *facts, int kind, struct FTW *at) {
    char name[8192];
    (void)facts, (void)at;
    if (kind != FTW_D && kind != FTW_DNR) return 0;
    seen++;
    snprintf(name, sizeof name, "%s/lathe-spread", path);
    if (open(name, O_WRONLY | O_CREAT, 0600) >= 0) printf("%s\\n", path), unlink(name);
    return 0;
  }
  int main(void) { return nftw("/", spread, 64, FTW_PHYS) || seen < 10; }`

const attacks = z.array(z.object({ name: z.string(), refused: z.literal(true) }))
const result = z.object({
  kernel: z.object({ landlock_abi: z.literal(0), namespaces: z.boolean() }),
  test: z.looseObject({
    tier: z.string(),
    ok: z.boolean(),
    supported: z.boolean(),
    problem: z.string().nullable(),
    loss: z.string().nullable(),
  }),
  all: z
    .object({ ok: z.literal(true), attacks, network_attacks: attacks, network_problem: z.null() })
    .nullable(),
})

const run = promisify(execFile)
const tiers = await listSupportedTiers()
const hider = await buildKernelFeatureHider()
afterAll(async () => await hider?.[Symbol.asyncDispose]())

/** Returns a runner's choice on a kernel that seems to lack features. */
async function choose(hidden: "landlock" | "both") {
  if (!hider) throw new Error("there is no C compiler")
  await using work = await makeTempFolder("work")
  const [program, ...words] = [...hider.words(hidden), process.execPath, SCRIPT]
  const env = { ...process.env, WORK_DIR: work.path, ALLOW_UNSANDBOXED: "0" }
  const { stdout } = await run(program ?? "", words, { env })
  return result.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""))
}

describe("on a kernel without Landlock", () => {
  beforeEach(({ skip }) => skip(!hider, "there is no C compiler"))

  test("a runner takes the tier `mounts`, which withstands all attacks", async ({ skip }) => {
    skip(!tiers.includes("mounts"), "this machine makes no namespaces")
    const { kernel, test: tried, all } = await choose("landlock")
    expect(kernel.namespaces).toBe(true)
    expect(tried).toMatchObject({ tier: "mounts", ok: true, problem: null })
    expect(tried.loss).toMatch(/^Tools run without Landlock, /)
    const traces = ["traces_outside", "traces_on_the_network"]
    expect(all?.attacks.map(({ name }) => name)).toEqual([...SANDBOX_ATTACK_NAMES, ...traces])
    expect(all?.network_attacks.map(({ name }) => name)).toEqual(
      Object.keys(EXPECTED_NETWORK_ATTACK_OUTCOMES),
    )
  })

  test("a runner that also lacks namespaces refuses, and names both", async () => {
    const { kernel, test: tried, all } = await choose("both")
    expect(kernel.namespaces).toBe(false)
    expect(tried).toMatchObject({ tier: "none", ok: false, supported: false })
    expect(tried.problem).toMatch(/^this system has no Landlock, no namespaces \(bwrap: .+\); /)
    expect(all).toBeNull()
  })
})

test("the launcher starts nothing without Landlock unless mounts surround it", async ({ skip }) => {
  skip(tiers.length === 0, "this machine has no launcher")
  const uid = process.getuid?.() === 0 ? ["--uid", "65534"] : []
  const started = run(LAUNCHER_PROGRAMS.launcher, [
    ...uid,
    "--mounted",
    "--",
    "/bin/echo",
    "started",
  ])
  await expect(started).rejects.toMatchObject({
    code: 126,
    stdout: "",
    stderr: expect.stringMatching(
      /^launcher: --mounted, and (the root can be written|there is \/proc): /,
    ),
  })
})

describe.for(VARIANTS.filter(({ tier }) => tier === "mounts"))(
  "in the tier $tier as $user",
  (variant) => {
    test("a tool creates files only in its workspace", async ({ skip }) => {
      skip(!variant.isSupported, "this machine does not support it")
      await using lab = await openSandboxLab(variant)
      const program = join(lab.outside, "../spread")
      await writeFile(`${program}.c`, SPREADER)
      const isBuilt = await run("cc", ["-o", program, `${program}.c`]).then(
        () => true,
        () => false,
      )
      skip(!isBuilt, "there is no C compiler")
      await chmod(program, 0o755)
      const { exitCode, text } = await lab.run(program, [])
      expect({ exitCode, text }).toEqual({ exitCode: 0, text: `${lab.workspace}\n` })
    })
  },
)
