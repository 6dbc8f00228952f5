import { execFile } from "node:child_process"
import { access, copyFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { beforeEach, describe, expect, test } from "vitest"
import { ATTACK_NAMES } from "../../container/sandbox/self-test.ts"
import { CALLING, READING, WRITING, attack } from "./sandbox-attack-cases.ts"
import { VARIANTS, openSandboxLab } from "./sandbox-lab.ts"

const ATTACK = join(import.meta.dirname, "../../container/launcher/build/attack")
const CASES = [...READING, ...WRITING, ...CALLING]

describe.concurrent.for(VARIANTS)("the tier $tier as $user", (variant) => {
  beforeEach(({ skip }) => skip(!variant.isThere, "this machine does not have it"))

  test.for(CASES)("holds against %s", async ([name, words]) => {
    await using lab = await openSandboxLab(variant)
    const said = await attack(lab, words(lab))
    expect(said.text).not.toContain("launcher:")
    const isRead = said.exitCode === 0 && READING.some(([each]) => each === name)
    expect({ isRead, damage: await lab.damage(said) }).toEqual({ isRead: false, damage: [] })
  })

  test("refuses everything that a hostile program tries", async () => {
    await using lab = await openSandboxLab(variant)
    const program = join(lab.outside, "../attack")
    await copyFile(ATTACK, program)
    const said = await lab.run(program, [lab.outside, String(lab.tcpPort), String(lab.udpPort)])
    expect(said.text.trim().split("\n")).toEqual(ATTACK_NAMES.map((each) => `${each} refused`))
    expect(await lab.damage(said)).toEqual([])
  })

  test("shows a library that an input brings along nothing either", async ({ skip }) => {
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
    const words = ["-shared", "-fPIC", "-o", library, join(lab.outside, "../library.c")]
    const isBuilt = await promisify(execFile)("cc", words).then(
      () => true,
      () => false,
    )
    if (!isBuilt) skip("there is no C compiler")
    const said = await lab.ffmpeg(
      `-f lavfi -i sine=d=0.1 -af ladspa=file=./in_1.so:plugin=x -f null -`,
    )
    expect(said.text).toMatch(/loaded: nothing, -1/)
    expect(await lab.damage(said)).toEqual([])
  })

  test("lets a tool that only looks change nothing in its folder", async () => {
    await using lab = await openSandboxLab(variant)
    const argv = "-nostdin -f lavfi -i sine=d=0.1 out.wav".split(" ")
    const said = await lab.run("ffmpeg", argv, { access: "read" })
    expect(said.exitCode).not.toBe(0)
    await expect(access(join(lab.workspace, "out.wav"))).rejects.toThrow("ENOENT")
  })
})

describe.concurrent("where nothing holds", () => {
  test.for(CASES)("%s does harm", async ([, words]) => {
    await using lab = await openSandboxLab({ tier: "none", user: "root", isThere: true })
    const said = await attack(lab, words(lab))
    const isHarm = said.exitCode === 0 || (await lab.damage(said)).length > 0
    expect({ ...said, isHarm }).toMatchObject({ isHarm: true })
  })
})
