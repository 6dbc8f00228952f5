import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { CliError } from "../cli/cli-error.ts"
import { installAptPackages, canInstallAptPackages } from "./apt.ts"
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
    "set ALLOW_UNSANDBOXED=1 if only you send commands and files."

/**
 * Set-up step that builds the C programs of the sandbox when their sources change: the launcher,
 * the program that attacks the sandbox in the self-test, the program that measures the disk use of
 * a workspace, and the libraries that are preloaded into tools.
 */
export const launcherStep: SetupStep = {
  name: "the sandbox's launcher",
  advice,
  ...(!isLinux && { lack: advice }),

  async isDone() {
    if (!isLinux) return process.env["ALLOW_UNSANDBOXED"] === "1"
    const stamp = await readFile(STAMP, "utf8").catch(() => "")
    return PROGRAMS.every((path) => existsSync(path)) && stamp === (await hashSources())
  },

  async canMake() {
    return isLinux && ((await hasCompiler()) || (await canInstallAptPackages()))
  },

  async make() {
    if (!(await hasCompiler())) await installAptPackages("gcc", "libc6-dev")
    const hash = await hashSources()
    try {
      await run("sh", [join(FOLDER, "build.sh")])
    } catch (error) {
      throw new CliError(`The launcher could not be built: ${String(error)}`, { cause: error })
    }
    await writeFile(STAMP, hash)
  },
}

let wasTried = false

/**
 * Set-up step for bubblewrap, which the sandbox uses for one of its levels of isolation. The
 * service also runs without bubblewrap.
 */
export const bubblewrapStep: SetupStep = {
  name: "bubblewrap",
  advice: "Lathe would use bubblewrap for its sandbox: install it and run this again.",

  async isDone() {
    return existsSync("/usr/bin/bwrap") || wasTried || !(await canInstallAptPackages())
  },

  canMake: canInstallAptPackages,

  async make() {
    wasTried = true
    try {
      await installAptPackages("bubblewrap")
    } catch (error) {
      console.error(
        "Continuing without bubblewrap:",
        error instanceof Error ? error.message : error,
      )
    }
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
