import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { makeLinkedIn } from "../../../container/ffmpeg/linked-in.ts"
import { makeTempFolder } from "../../../scripts/local/temp-folder.ts"

const run = promisify(execFile)
const SOURCES = ["main.c", "allocator.c"].map((name) => join(import.meta.dirname, "zeroed", name))
const LACK = existsSync("/usr/bin/gcc") ? "" : ": gcc is not here"
/** What 16 MiB take, where each page is written to, is 4,096. */
const FAULTS_MAX = 64

test.skipIf(LACK !== "").each(["heap", "mappings"])(
  `zeroed memory is zero, alone, and costs nothing until it is used: %s${LACK}`,
  async (where) => {
    await using folder = await makeTempFolder("zeroed")
    await makeLinkedIn(folder.path)
    const program = join(folder.path, "main")
    // Each by itself, as a linker sends on only what an object does not have.
    const words = [...SOURCES, join(folder.path, "libzeroed.a"), "-Wl,--wrap=av_mallocz"]
    await run("gcc", ["-O1", "-fno-builtin", "-Wall", "-Werror", ...words, "-o", program])
    const { stdout } = await run(program, [where])
    expect(Number(stdout)).toBeLessThan(FAULTS_MAX)
  },
)
