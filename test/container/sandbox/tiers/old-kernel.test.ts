import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { testNetworkIsolation } from "../../../../container/sandbox/tiers/network-test.ts"
import { SANDBOX_ATTACK_NAMES } from "../../../../container/sandbox/tiers/self-test.ts"
import { UNPRIVILEGED_UID, VARIANTS, openSandboxLab } from "../lab.ts"
import type { ToolLaunch } from "../../../../container/sandbox/sandbox.ts"
import type { SandboxLab, Variant } from "../lab.ts"

const LAUNCHER = join(import.meta.dirname, "../../../../container/launcher")
const PARTS = [
  "launcher.c",
  "confine.c",
  "options.c",
  "order.c",
  "processes.c",
  "reach.c",
  "broker.c",
  "landlock.c",
  "seccomp.c",
  "seccomp-filter.c",
]

/**
 * Source of a library that makes the kernel report version 5 of Landlock, which does not restrict
 * signals. It also refuses to add descriptors to a call that a filter holds.
 */
const OLD_KERNEL = `
  #include <errno.h>
  #include <linux/seccomp.h>
  #include <stdarg.h>
  #include <sys/ioctl.h>
  int __wrap_ioctl(int file, unsigned long request, ...) {
    if (request == SECCOMP_IOCTL_NOTIF_ADDFD) return errno = EINVAL, -1;
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    int __real_ioctl(int, unsigned long, void *);
    return __real_ioctl(file, request, argument);
  }
  long __real_syscall(long, long, long, long, long, long, long);
  long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    long result = __real_syscall(number, a, b, c, d, e, f);
    return number == 444 && a == 0 && result > 5 ? 5 : result;
  }`

/**
 * Source of a tool that asks the kernel to send SIGKILL to a process when a file is created in the
 * folder.
 */
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
    build(
      "launcher",
      "-Wl,--wrap=syscall",
      "-Wl,--wrap=ioctl",
      join(folder, "old-kernel.c"),
      ...parts,
    ),
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

function runOnOldKernel(
  lab: SandboxLab,
  name: string,
  argv: string[],
  differing: Partial<ToolLaunch> = {},
) {
  const sandbox = { ...lab.taskSandbox.sandbox, launcherPath: join(folder, "launcher") }
  const taskSandbox = { ...lab.taskSandbox, sandbox }
  return lab.run(join(folder, name), argv, { taskSandbox, ...differing })
}

/** Starts another process of the tools' user. */
async function openVictim({ user }: Variant) {
  const identity =
    process.getuid?.() === 0 && user === "unprivileged"
      ? { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID }
      : {}
  const child = spawn("sleep", ["30"], { stdio: "ignore", ...identity })
  const exited = once(child, "exit")
  await once(child, "spawn")
  return {
    pid: String(child.pid),
    /**
     * Ends the process by SIGTERM; returns the signal that ended it, which may be an earlier one.
     */
    async end() {
      child.kill("SIGTERM")
      await exited
      return child.signalCode
    },
  }
}

describe.for(VARIANTS)("on an old kernel in the tier $tier as $user", (variant) => {
  beforeEach(({ skip }) => {
    skip(!variant.isSupported, "this machine does not support it")
    skip(!hasCompiler, "there is no C compiler")
  })

  test("the attack program succeeds with nothing", async () => {
    await using lab = await openSandboxLab(variant)
    const argv = [lab.outside, String(lab.tcpPort), String(lab.udpPort)]
    const run = await runOnOldKernel(lab, "attack", argv)
    expect(run.text.trim().split("\n")).toEqual(
      SANDBOX_ATTACK_NAMES.map((each) => `${each} refused`),
    )
    expect(await lab.findDamage(run)).toEqual([])
  })

  test("a tool that may start processes gains no other right", async () => {
    await using lab = await openSandboxLab(variant)
    const argv = [lab.outside, String(lab.tcpPort), String(lab.udpPort)]
    const run = await runOnOldKernel(lab, "attack", argv, { mayFork: true })
    const allowed = run.text.split("\n").filter((line) => !line.endsWith(" refused") && line !== "")
    expect(allowed).toEqual(["fork allowed"])
    expect(await lab.findDamage(run)).toEqual([])
  })

  test("a tool with a network does not start, and the error names the reason", async () => {
    await using lab = await openSandboxLab(variant)
    const run = await runOnOldKernel(lab, "attack", [], { network: lab.unixPath })
    expect(run.exitCode).toBe(126)
    expect(run.text).toMatch(/^launcher: this kernel cannot give a tool its connections/)
    expect(await lab.findDamage(run)).toEqual([])
  })

  test("the self-test reports why no tool can have a network", async ({ skip }) => {
    skip(process.getuid?.() === 0 && variant.user === "unprivileged", "the self-test runs as root")
    await using lab = await openSandboxLab(variant)
    const launcherPath = join(folder, "launcher")
    const sandbox = { ...lab.taskSandbox.sandbox, launcherPath }
    const { problem } = await testNetworkIsolation(sandbox, join(folder, "attack"), undefined)
    expect(problem).toMatch(/^Tools of this sandbox cannot have a network: launcher: this kernel/)
  })

  test("a folder notification kills no other process", async () => {
    await using lab = await openSandboxLab(variant)
    const victim = await openVictim(variant)
    const run = await runOnOldKernel(lab, "killer", [victim.pid])
    expect({ exitCode: run.exitCode, end: await victim.end() }).toEqual({
      exitCode: 0,
      end: "SIGTERM",
    })
  })
})

test("without a sandbox, a folder notification kills another process", async ({ skip }) => {
  skip(!hasCompiler, "there is no C compiler")
  const variant = { tier: "none", user: "unprivileged", isSupported: true } as const
  await using lab = await openSandboxLab(variant)
  const victim = await openVictim(variant)
  await lab.run(join(folder, "killer"), [victim.pid])
  expect(await victim.end()).toBe("SIGKILL")
})
