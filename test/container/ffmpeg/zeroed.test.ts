import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { createLinkedLibraries } from "../../../container/ffmpeg/build.ts"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"

const run = promisify(execFile)
const SOURCES = ["main.c", "allocator.c"].map((name) => join(import.meta.dirname, "zeroed", name))
const LACK = existsSync("/usr/bin/gcc") ? "" : ": gcc is not here"
/** Page faults allowed for 16 MiB; a write to every page would cause 4,096. */
const FAULTS_MAX = 64

test.skipIf(LACK !== "").each(["heap", "mappings"])(
  `zeroed memory is zero and unshared, and costs nothing before its first use: %s${LACK}`,
  async (where) => {
    await using folder = await makeTempFolder("zeroed")
    await createLinkedLibraries(folder.path)
    const program = join(folder.path, "main")
    // Compiles with both sources, since a linker wraps only calls to symbols that an object lacks.
    const words = [...SOURCES, join(folder.path, "libzeroed.a"), "-Wl,--wrap=av_mallocz"]
    await run("gcc", ["-O1", "-fno-builtin", "-Wall", "-Werror", ...words, "-o", program])
    const { stdout } = await run(program, [where])
    expect(Number(stdout)).toBeLessThan(FAULTS_MAX)
  },
)
