import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { CliError } from "../local/cli-error.ts"
import { aptInstall, canAptInstall } from "./apt.ts"
import type { SetupStep } from "./step.ts"

const FOLDER = "container/launcher"
const PROGRAMS = ["launcher", "attack", "network-attack", "meter", "hold.so", "reads.so"].map(
  (name) => join(FOLDER, "build", name),
)
const STAMP = join(FOLDER, "build", "stamp")
const run = promisify(execFile)

const isLinux = process.platform === "linux"

const advice = isLinux
  ? "Lathe builds the sandbox of its tools with a C compiler: install one, for example with " +
    "`sudo apt-get install gcc libc6-dev`, and run this again."
  : "Lathe runs its tools in a sandbox that only Linux has: use Linux or the container image, or " +
    "set ALLOW_UNSANDBOXED=1 where nobody but you sends commands and files."

/** The sandbox's launcher, its self-test's attacks, the meter of workspaces and what is loaded into tools, built again when their sources change. */
export const launcher: SetupStep = {
  name: "the sandbox's launcher",
  advice,
  ...(!isLinux && { lack: advice }),

  async isDone() {
    if (!isLinux) return process.env["ALLOW_UNSANDBOXED"] === "1"
    const stamp = await readFile(STAMP, "utf8").catch(() => "")
    return PROGRAMS.every((path) => existsSync(path)) && stamp === (await hashSources())
  },

  async canMake() {
    return isLinux && ((await hasCompiler()) || (await canAptInstall()))
  },

  async make() {
    if (!(await hasCompiler())) await aptInstall("gcc", "libc6-dev")
    const hash = await hashSources()
    try {
      await run("sh", [join(FOLDER, "build.sh")])
    } catch (error) {
      throw new CliError(`The launcher could not be built: ${String(error)}`, { cause: error })
    }
    await writeFile(STAMP, hash)
  },
}

async function hasCompiler(): Promise<boolean> {
  try {
    await run(process.env["CC"] ?? "cc", ["--version"])
    return existsSync("/usr/include/stdio.h")
  } catch {
    return false
  }
}

async function hashSources(): Promise<string> {
  const names = (await readdir(FOLDER)).filter((name) => /\.(c|h|sh)$/.test(name)).toSorted()
  const hash = createHash("sha256")
  for (const name of names) hash.update(name).update(await readFile(join(FOLDER, name)))
  return hash.digest("hex")
}
