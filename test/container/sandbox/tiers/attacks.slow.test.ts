import { execFile } from "node:child_process"
import { access, copyFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { beforeEach, describe, expect, test } from "vitest"
import { SANDBOX_ATTACK_NAMES } from "../../../../container/sandbox/tiers/self-test.ts"
import { CALLING, READING, WRITING, attack } from "./attack-cases.ts"
import { ALL_VARIANTS, openSandboxLab } from "../lab.ts"

const ATTACK = join(import.meta.dirname, "../../../../container/launcher/build/attack")
const CASES = [...READING, ...WRITING, ...CALLING]

describe.concurrent.for(ALL_VARIANTS)("the tier $how", (variant) => {
  beforeEach(({ skip }) => skip(!variant.isSupported, "this machine does not support it"))

  test.for(CASES)("withstands %s", async ([name, commandLine]) => {
    await using lab = await openSandboxLab(variant)
    const run = await attack(lab, commandLine(lab))
    expect(run.text).not.toContain("launcher:")
    const isRead = run.exitCode === 0 && READING.some(([each]) => each === name)
    expect({ isRead, damage: await lab.findDamage(run) }).toEqual({ isRead: false, damage: [] })
  })

  test("refuses each attack of the attack program", async () => {
    await using lab = await openSandboxLab(variant)
    const program = join(lab.outside, "../attack")
    await copyFile(ATTACK, program)
    const run = await lab.run(program, [lab.outside, String(lab.tcpPort), String(lab.udpPort)])
    expect(run.text.trim().split("\n")).toEqual(
      SANDBOX_ATTACK_NAMES.map((each) => `${each} refused`),
    )
    expect(await lab.findDamage(run)).toEqual([])
  })

  test("keeps a library from an input from reading outside files", async ({ skip }) => {
    await using lab = await openSandboxLab(variant)
    const source = `
        #include <stdio.h>
        #include <unistd.h>
        __attribute__((constructor)) static void attack(void) {
          char text[64] = "nothing";
          FILE *file = fopen("${lab.outside}/secret", "r");
          if (file) fgets(text, sizeof text, file);
          fprintf(stderr, "loaded: %s, %d\\n", text, fork());
        }`
    await writeFile(join(lab.outside, "../library.c"), source)
    const library = join(lab.workspace, "in_1.so")
    const argv = ["-shared", "-fPIC", "-o", library, join(lab.outside, "../library.c")]
    const isBuilt = await promisify(execFile)("cc", argv).then(
      () => true,
      () => false,
    )
    if (!isBuilt) skip("there is no C compiler")
    const run = await lab.ffmpeg(
      `-f lavfi -i sine=d=0.1 -af ladspa=file=./in_1.so:plugin=x -f null -`,
    )
    expect(run.text).toMatch(/loaded: nothing, -1/)
    expect(await lab.findDamage(run)).toEqual([])
  })

  test("keeps a tool with read access from changing its folder", async () => {
    await using lab = await openSandboxLab(variant)
    const argv = "-nostdin -f lavfi -i sine=d=0.1 out.wav".split(" ")
    const run = await lab.run("ffmpeg", argv, { access: "read" })
    expect(run.exitCode).not.toBe(0)
    await expect(access(join(lab.workspace, "out.wav"))).rejects.toThrow("ENOENT")
  })
})

describe.concurrent("without a sandbox", () => {
  test.for(CASES)("%s succeeds", async ([, commandLine]) => {
    await using lab = await openSandboxLab({ tier: "none", user: "root", isSupported: true })
    const run = await attack(lab, commandLine(lab))
    const isSuccessful = run.exitCode === 0 || (await lab.findDamage(run)).length > 0
    expect({ ...run, isSuccessful }).toMatchObject({ isSuccessful: true })
  })
})
