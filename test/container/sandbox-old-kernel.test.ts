import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { ATTACK_NAMES } from "../../container/sandbox/self-test.ts"
import { VARIANTS, openSandboxLab } from "./sandbox-lab.ts"
import type { SandboxLab, Variant } from "./sandbox-lab.ts"

const LAUNCHER = join(import.meta.dirname, "../../container/launcher")
const PARTS = ["launcher.c", "options.c", "landlock.c", "seccomp.c"]

/** Says of the kernel that its Landlock is of the fifth version, which lets signals pass. */
const OLD_KERNEL = `
  long __real_syscall(long, long, long, long, long, long, long);
  long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    long result = __real_syscall(number, a, b, c, d, e, f);
    return number == 444 && a == 0 && result > 5 ? 5 : result;
  }`

/** Has the kernel kill a process as soon as a file is made in the folder. */
const KILLER = `
  #define _GNU_SOURCE
  #include <fcntl.h>
  #include <signal.h>
  #include <stdlib.h>
  #include <unistd.h>
  int main(int count, char **words) {
    if (count != 2) return 2;
    int folder = open(".", O_RDONLY | O_DIRECTORY);
    fcntl(folder, F_SETSIG, SIGKILL);
    fcntl(folder, F_NOTIFY, DN_CREATE | DN_MULTISHOT);
    fcntl(folder, F_SETOWN, atoi(words[1]));
    return open("made", O_CREAT | O_WRONLY, 0600) < 0;
  }`

let folder: string
let hasCompiler = false

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-old-kernel-"))
  await chmod(folder, 0o755)
  const sources = { "old-kernel.c": OLD_KERNEL, "killer.c": KILLER }
  for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, name), text)
  const parts = PARTS.map((name) => join(LAUNCHER, name))
  const isBuilt = await Promise.all([
    build("launcher", "-Wl,--wrap=syscall", join(folder, "old-kernel.c"), ...parts),
    build("killer", join(folder, "killer.c")),
    copyFile(join(LAUNCHER, "build/attack"), join(folder, "attack")),
  ])
  hasCompiler = !isBuilt.includes(false)
})

afterAll(() => rm(folder, { recursive: true }))

async function build(name: string, ...words: string[]): Promise<boolean> {
  return await promisify(execFile)("cc", ["-o", join(folder, name), ...words]).then(
    () => true,
    () => false,
  )
}

function runOnOldKernel(lab: SandboxLab, name: string, argv: string[]) {
  const sandbox = { ...lab.jail.sandbox, launcherPath: join(folder, "launcher") }
  return lab.run(join(folder, name), argv, { jail: { ...lab.jail, sandbox } })
}

/** Somebody else's process, that of the tool's user where it is not root's. */
async function openVictim({ user }: Variant) {
  const asWhom = process.getuid?.() === 0 && user === "somebody" ? { uid: 23_456, gid: 23_456 } : {}
  const child = spawn("sleep", ["30"], { stdio: "ignore", ...asWhom })
  const exited = once(child, "exit")
  await once(child, "spawn")
  return {
    pid: String(child.pid),
    /** How it ended by what came before this signal. */
    async end() {
      child.kill("SIGTERM")
      await exited
      return child.signalCode
    },
  }
}

describe.for(VARIANTS)("on an old kernel in the tier $tier as $user", (variant) => {
  beforeEach(({ skip }) => {
    skip(!variant.isThere, "this machine does not have it")
    skip(!hasCompiler, "there is no C compiler")
  })

  test("a hostile program can do nothing more", async () => {
    await using lab = await openSandboxLab(variant)
    const words = [lab.outside, String(lab.tcpPort), String(lab.udpPort)]
    const said = await runOnOldKernel(lab, "attack", words)
    expect(said.text.trim().split("\n")).toEqual(ATTACK_NAMES.map((each) => `${each} refused`))
    expect(await lab.damage(said)).toEqual([])
  })

  test("nobody dies of what a folder tells of itself", async () => {
    await using lab = await openSandboxLab(variant)
    const victim = await openVictim(variant)
    const said = await runOnOldKernel(lab, "killer", [victim.pid])
    expect({ exitCode: said.exitCode, end: await victim.end() }).toEqual({
      exitCode: 0,
      end: "SIGTERM",
    })
  })
})

test("where nothing holds somebody dies of it", async ({ skip }) => {
  skip(!hasCompiler, "there is no C compiler")
  const variant = { tier: "none", user: "somebody", isThere: true } as const
  await using lab = await openSandboxLab(variant)
  const victim = await openVictim(variant)
  await lab.run(join(folder, "killer"), [victim.pid])
  expect(await victim.end()).toBe("SIGKILL")
})
