import { existsSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { build, hashOfOptions } from "../../../container/ffmpeg/build.ts"
import type { DebianSource } from "../../../container/ffmpeg/debian-source.ts"
import { makeTempFolder } from "../../../scripts/local/temp-folder.ts"

const PROGRAMS = ["ffmpeg", "ffprobe", "fetch-ffmpeg"]
const NEEDED = ["/usr/bin/apt-cache", "/usr/bin/gcc", "/usr/bin/make"]
const missing = NEEDED.filter((path) => !existsSync(path))
const LACK = missing.length === 0 ? "" : `: ${missing.join(", ")} is not here`

/** What it is configured with, the words on a line each, its programs print. */
const CONFIGURE = `#!/bin/sh
printf '%s\\\\n' "$@" >words
printf '#include <stdio.h>\\nint main(void) { puts("%s"); return 0; }\\n' "$(cat words | tr -d '\\n')" >it.c
printf 'ffmpeg ffprobe:\\n\\tcc -o $@ it.c\\n' >Makefile
`

function sourceWith(configure: string): DebianSource {
  return {
    version: "7:7.1.5-0+deb13u1",
    unpackInto: async (folder) => {
      await writeFile(join(folder, "configure"), configure, { mode: 0o755 })
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

test.skipIf(LACK !== "")(`a build leaves programs, and what it was made of${LACK}`, async () => {
  await using folder = await makeTempFolder("build")
  const built = await build(sourceWith(CONFIGURE), folder.path)
  expect(built).toMatchObject({ version: "7:7.1.5-0+deb13u1", hash: await hashOfOptions() })
  expect(built.libraries).toContain("libx264")
  expect(JSON.parse(await readFile(join(folder.path, "built.json"), "utf8"))).toEqual(built)
  expect(await readFile(join(folder.path, "packages"), "utf8")).toBe("libc6\n")
  const said = await Promise.all(
    PROGRAMS.map(async (name) => {
      return (await promisify(execFile)(join(folder.path, "bin", name))).stdout
    }),
  )
  expect(said.map((words) => words.includes("--disable-network"))).toEqual([true, true, false])
})

test.skipIf(LACK !== "")(`one that fails says what was printed last${LACK}`, async () => {
  await using folder = await makeTempFolder("build")
  const failing = sourceWith("#!/bin/sh\necho 'ERROR: libx264 not found'\nexit 1\n")
  await expect(build(failing, folder.path)).rejects.toThrow(
    "configure of ffmpeg ended with 1:\nERROR: libx264 not found",
  )
  expect(existsSync(join(folder.path, "built.json"))).toBe(false)
})
